// Where a command computes.
#ifndef TRA_CLI_DEVICE_H_
#define TRA_CLI_DEVICE_H_

#include <c10/core/Device.h>

#include <CLI/App.hpp>
#include <string>

namespace tra::cli {

// cpu, cuda or cuda:N.
void AddDeviceOption(CLI::App& command, std::string& device);

// That of the option, the CPU without it. Of several processes that torchrun started, each takes the GPU of its
// LOCAL_RANK for "cuda". Throws std::invalid_argument for a GPU that is not there.
at::Device FindDevice(const std::string& name);

// From here on also what CUDA and NCCL do without being told where is done there.
at::Device UseDevice(const std::string& name);

}  // namespace tra::cli

#endif  // TRA_CLI_DEVICE_H_
