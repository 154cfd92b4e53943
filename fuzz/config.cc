// Reads bytes as a configuration. What is taken survives being written as a run's config.toml.
#include "tra/run/config.h"

#include <stdexcept>

#include "fuzz/harnesses.h"

namespace tra::fuzz {

void ReadConfigBytes(std::string_view bytes) {
  std::string written;
  try {
    // The first line serves as an override too, as --set gives it.
    const std::string text(bytes);
    const RunConfig config = ParseConfig(text, {}, "fuzz");
    written = ConfigToml(config);
    static_cast<void>(ParseConfig("", {text.substr(0, text.find('\n'))}, "fuzz"));
  } catch (const std::invalid_argument&) {
    if (written.empty()) return;
  }
  Require(ConfigToml(ParseConfig(written, {}, "written")) == written, "a configuration changes when it is read back");
}

}  // namespace tra::fuzz
