// Writes TOML values as text.
#ifndef TRA_RUN_TOML_TEXT_H_
#define TRA_RUN_TOML_TEXT_H_

#include <toml++/toml.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tra {

// Returns the shortest text that reads back as the same number; toml++ would turn 0.003 into 0.0030000000000000001.
inline std::string TomlText(double value) {
  const std::string text = nlohmann::json(value).dump();
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

// Returns a basic string, which is JSON's but for DEL. Throws std::invalid_argument for text that is not UTF-8.
inline std::string TomlText(const std::string& value) {
  std::string text;
  try {
    text = nlohmann::json(value).dump();
  } catch (const nlohmann::json::type_error&) {
    throw std::invalid_argument("a string is not UTF-8; convert it");
  }
  for (size_t at = text.find('\x7F'); at != std::string::npos; at = text.find('\x7F', at)) {
    text.replace(at, 1, "\\u007F");
  }
  return text;
}

inline std::string TomlText(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return TomlText(*text);
  if (const auto number = node.value_exact<double>(); number && std::isfinite(*number)) return TomlText(*number);
  std::ostringstream text;
  node.visit([&](const auto& value) { text << toml::toml_formatter(value, toml::format_flags::none); });
  return text.str();
}

}  // namespace tra

#endif  // TRA_RUN_TOML_TEXT_H_
