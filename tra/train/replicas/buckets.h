// Gradients in flat buffers, each summed over the processes at once, and as soon as it is full.
#ifndef TRA_TRAIN_REPLICAS_BUCKETS_H_
#define TRA_TRAIN_REPLICAS_BUCKETS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tra/train/replicas/group.h"

namespace tra {

class GradientBuckets {
 public:
  // The group must outlive this.
  GradientBuckets(const std::vector<at::Tensor>& parameters, int64_t bucket_bytes, Group& group);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void BeginLastBackward();
  bool InLastBackward() const { return last_backward_; }
  void Finish();

 private:
  struct Slot {
    at::Tensor parameter;
    at::Tensor view;  // of the bucket's buffer, in the parameter's shape: its gradient lives here
    bool ready = false;
  };

  // The buffer ends with a number for each slot: how many processes have that gradient.
  struct Bucket {
    std::vector<Slot> slots;
    at::Tensor buffer;
    at::Tensor counts;
    size_t missing = 0;          // gradients that the last backward has yet to bring
    std::function<void()> wait;  // once the sum is under way
  };

  class Hooks;

  void Add(std::vector<Slot> slots);
  void OnGradient(Bucket& bucket, Slot& slot);
  void Launch(Bucket& bucket);
  void Settle(Bucket& bucket);

  Group& group_;
  std::vector<std::unique_ptr<Bucket>> buckets_;  // hooks know their addresses
  size_t launched_ = 0;                           // buckets, of the step: in the same order everywhere
  bool last_backward_ = false;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace tra

#endif  // TRA_TRAIN_REPLICAS_BUCKETS_H_
