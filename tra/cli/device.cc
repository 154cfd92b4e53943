#include "tra/cli/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

#include "tra/base/launch.h"

namespace tra::cli {
namespace {

constexpr char kPrefix[] = "cuda:";

// Returns N of cuda:N; nothing for other names.
std::optional<int> NamedIndex(const std::string& name) {
  if (name.rfind(kPrefix, 0) != 0) return std::nullopt;
  int index = 0;
  const char* const begin = name.data() + sizeof(kPrefix) - 1;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(begin, end, index);
  if (error != std::errc() || at != end || index < 0 || index > std::numeric_limits<at::DeviceIndex>::max()) {
    return std::nullopt;
  }
  return index;
}

}  // namespace

void AddDeviceOption(CLI::App& command, std::string& device) {
  const auto error = [](const std::string& name) {
    const bool known = name == "cpu" || name == "cuda" || NamedIndex(name);
    return known ? std::string() : "must be cpu, cuda or cuda:N, got '" + name + "'";
  };
  command.add_option("--device", device, "device to compute on: cpu, cuda or cuda:N")->default_str("cpu")->check(error);
}

at::Device FindDevice(const std::string& name) {
  if (name.empty() || name == "cpu") return at::kCPU;
  const std::optional<int> named = NamedIndex(name);
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (count == 0) {
    throw std::invalid_argument("--device " + name +
                                ": no GPU was found; check that its driver runs and that this LibTorch is built for "
                                "CUDA, or compute on the CPU without --device");
  }
  const Launch launch = ReadLaunch();
  if (!named && launch.size > 1 && !launch.local_rank) {
    throw std::invalid_argument(
        "--device cuda: LOCAL_RANK is not set, so the processes of a machine cannot tell whose GPU is which: start "
        "them "
        "with torchrun, or give each its own --device cuda:N");
  }
  const int index = named.value_or(launch.local_rank.value_or(0));
  if (index >= count) {
    throw std::invalid_argument("--device " + name + ": there are " + std::to_string(count) +
                                " GPUs, numbered from 0, and no number " + std::to_string(index));
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

at::Device UseDevice(const std::string& name) {
  const at::Device device = FindDevice(name);
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  return device;
}

}  // namespace tra::cli
