#include "tra/run/environment.h"

#include <ATen/Parallel.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tra/kernels/targets.h"
#include "tra/ops/product.h"
#include "tra/run/revision.h"

namespace tra {
namespace {

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string Now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

std::string EnvironmentJson(const std::string& device) {
  utsname system{};
  uname(&system);
  const nlohmann::ordered_json json = {
      {"tra", TRA_VERSION},
      {"revision", kRevision},
      {"started", Now()},
      {"host", system.nodename},
      {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
      {"processor", ProcessorName()},
      {"cores", std::thread::hardware_concurrency()},
      {"threads", at::get_num_threads()},
      {"device", device},
      {"simd", ChosenTargetName()},
      {"compiler", __VERSION__},
      {"libtorch", TORCH_VERSION},
      {"products", ProductLibrary()},
  };
  return json.dump(2) + "\n";
}

std::string Version() { return TRA_VERSION; }

std::string VersionText() {
  return "tra " TRA_VERSION ", revision " + std::string(kRevision) + "\nLibTorch " TORCH_VERSION ", products by " +
         ProductLibrary() + ", kernels for " + ChosenTargetName();
}

}  // namespace tra
