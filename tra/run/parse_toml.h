// Parses TOML from elsewhere. It is the only way in for TOML: toml++ bounds the nesting of values, but not that of
// keys, and everything that walks its tables, its own destructors too, recurses.
#ifndef TRA_RUN_PARSE_TOML_H_
#define TRA_RUN_PARSE_TOML_H_

#include <toml++/toml.h>

#include <cstdint>
#include <string>

namespace tra {

constexpr uint64_t kMostTomlBytes = uint64_t{1} << 20;

// Throws std::invalid_argument that begins with `name` and the line.
toml::table ParseToml(const std::string& text, const std::string& name);

// Reads and parses a file. One that is missing or cannot be read is bad input too.
toml::table ParseTomlFile(const std::string& path);

}  // namespace tra

#endif  // TRA_RUN_PARSE_TOML_H_
