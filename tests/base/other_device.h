// A device that is not the CPU, on a machine without a GPU.
#ifndef TRA_TESTS_BASE_OTHER_DEVICE_H_
#define TRA_TESTS_BASE_OTHER_DEVICE_H_

#include <ATen/core/Tensor.h>
#include <torch/csrc/lazy/ts_backend/ts_backend_impl.h>

namespace tra::testing {

// LibTorch's lazy device: as on a GPU, its tensors refuse those of the CPU beside them and have no memory to read.
inline at::Device OtherDevice() {
  static const bool started = [] {
    torch::lazy::InitTorchScriptBackend();
    return true;
  }();
  (void)started;
  return {at::kLazy, 0};
}

}  // namespace tra::testing

#endif  // TRA_TESTS_BASE_OTHER_DEVICE_H_
