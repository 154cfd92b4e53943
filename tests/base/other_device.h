// Provides a device that is not the CPU, even on a machine without a GPU.
#ifndef TRA_TESTS_BASE_OTHER_DEVICE_H_
#define TRA_TESTS_BASE_OTHER_DEVICE_H_

#include <ATen/core/Tensor.h>
#include <torch/csrc/lazy/ts_backend/ts_backend_impl.h>
#include <torch/cuda.h>

namespace tra::testing {

// Returns a GPU if there is one, else LibTorch's lazy device: its tensors have no memory to read either, and most of
// its operations, though not all, refuse to be mixed with CPU tensors.
inline at::Device OtherDevice() {
  if (torch::cuda::is_available()) return {at::kCUDA, 0};
  static const bool started = [] {
    torch::lazy::InitTorchScriptBackend();
    return true;
  }();
  (void)started;
  return {at::kLazy, 0};
}

}  // namespace tra::testing

#endif  // TRA_TESTS_BASE_OTHER_DEVICE_H_
