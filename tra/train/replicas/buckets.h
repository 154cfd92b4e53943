// Collects gradients in flat buffers, and sums each buffer over the processes as soon as it is full.
#ifndef TRA_TRAIN_REPLICAS_BUCKETS_H_
#define TRA_TRAIN_REPLICAS_BUCKETS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tra/train/replicas/process_group.h"

namespace tra {

class GradientBuckets {
 public:
  // The group must outlive this.
  GradientBuckets(const std::vector<at::Tensor>& parameters, int64_t bucket_bytes, ProcessGroup& group);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void BeginLastBackward();
  bool InLastBackward() const { return last_backward_; }
  void Finish();

 private:
  struct Slot {
    at::Tensor parameter;
    at::Tensor view;  // part of the bucket's buffer in the parameter's shape, where its gradient lives
    bool ready = false;
  };

  // The buffer ends with one number per slot: how many processes have that gradient.
  struct Bucket {
    std::vector<Slot> slots;
    at::Tensor buffer;
    at::Tensor counts;
    size_t missing = 0;          // gradients that the last backward has yet to bring
    std::function<void()> wait;  // waits for the sum; set once it is under way
  };

  class Hooks;

  void Add(std::vector<Slot> slots);
  void OnGradient(Bucket& bucket, Slot& slot);
  void Launch(Bucket& bucket);
  void Settle(Bucket& bucket);

  ProcessGroup& group_;
  std::vector<std::unique_ptr<Bucket>> buckets_;  // on the heap, because hooks keep their addresses
  size_t launched_ = 0;                           // buckets launched in this step, in the same order in all processes
  bool last_backward_ = false;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace tra

#endif  // TRA_TRAIN_REPLICAS_BUCKETS_H_
