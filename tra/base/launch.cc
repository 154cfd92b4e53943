#include "tra/base/launch.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>

namespace tra {
namespace {

// Returns a variable; an empty one counts as not set.
std::optional<std::string> Get(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string Need(const char* name) {
  if (auto value = Get(name)) return *value;
  throw std::invalid_argument(std::string(name) +
                              " is not set: start the processes with torchrun, or set RANK, WORLD_SIZE, MASTER_ADDR "
                              "and MASTER_PORT for each of them");
}

int NeedInteger(const char* name, int low, int high) {
  const std::string text = Need(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw std::invalid_argument(std::string(name) + "='" + text + "' is not a number from " + std::to_string(low) +
                                " to " + std::to_string(high));
  }
  return value;
}

}  // namespace

Launch ReadLaunch() {
  Launch launch;
  if (!Get("RANK") && !Get("WORLD_SIZE")) return launch;
  launch.size = NeedInteger("WORLD_SIZE", 1, std::numeric_limits<int>::max());
  launch.rank = NeedInteger("RANK", 0, launch.size - 1);
  if (Get("LOCAL_RANK")) launch.local_rank = NeedInteger("LOCAL_RANK", 0, launch.size - 1);
  if (launch.size == 1) return launch;
  launch.master_address = Need("MASTER_ADDR");
  launch.master_port = static_cast<uint16_t>(NeedInteger("MASTER_PORT", 1, 65535));
  launch.agent_store = Get("TORCHELASTIC_USE_AGENT_STORE") == "True";
  launch.attempt = Get("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return launch;
}

}  // namespace tra
