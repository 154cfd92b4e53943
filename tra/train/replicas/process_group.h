// Wraps what is needed of c10d, so that its headers are included in one place: processes that meet, and sums and copies
// among them.
#ifndef TRA_TRAIN_REPLICAS_PROCESS_GROUP_H_
#define TRA_TRAIN_REPLICAS_PROCESS_GROUP_H_

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tra/base/launch.h"

namespace tra {

// Connects processes. All of them must make the same calls in the same order. Any failure, in whichever process, throws
// std::runtime_error with the rank, the time waited and the remedy.
class ProcessGroup {
 public:
  // Connects processes whose parameters are on `device`: with NCCL for CUDA if this build has it, else with Gloo.
  // Returns when all processes have met, and fails after `timeout` if they do not.
  ProcessGroup(const Launch& launch, at::Device device, std::chrono::milliseconds timeout);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  at::Device device() const { return device_; }  // where tensors must be to be sent

  // Starts to replace a contiguous tensor by its sum over the processes, the same to the last bit in each. Call the
  // returned function to wait for the sum. `what` is for errors: "the sum of gradients".
  std::function<void()> Sum(const at::Tensor& tensor, const std::string& what);
  // Copies rank 0's contents to all processes.
  void Broadcast(const at::Tensor& tensor, const std::string& what);

 private:
  class Backend;

  template <typename Start>
  std::function<void()> Run(const std::string& what, Start start);

  const int rank_, size_;
  const at::Device device_;
  const std::chrono::milliseconds timeout_;
  std::shared_ptr<Backend> backend_;
  std::atomic<bool> failed_ = false;
};

}  // namespace tra

#endif  // TRA_TRAIN_REPLICAS_PROCESS_GROUP_H_
