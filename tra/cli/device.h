// Chooses the device that a command computes on.
#ifndef TRA_CLI_DEVICE_H_
#define TRA_CLI_DEVICE_H_

#include <c10/core/Device.h>

#include <CLI/App.hpp>
#include <string>

namespace tra::cli {

// Adds --device: cpu, cuda or cuda:N.
void AddDeviceOption(CLI::App& command, std::string& device);

// Returns the device of that option, or the CPU if it is empty. For "cuda", each of several processes that torchrun
// started takes the GPU of its LOCAL_RANK. Throws std::invalid_argument for a GPU that does not exist.
at::Device FindDevice(const std::string& name);

// Does the same, and makes it the current device, which CUDA and NCCL use when none is named.
at::Device UseDevice(const std::string& name);

}  // namespace tra::cli

#endif  // TRA_CLI_DEVICE_H_
