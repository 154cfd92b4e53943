// Checks options that are whole numbers.
#ifndef TRA_CLI_WHOLE_NUMBER_H_
#define TRA_CLI_WHOLE_NUMBER_H_

#include <CLI/App.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace tra::cli {

constexpr uint64_t kAnySeed = UINT64_MAX;
constexpr uint64_t kMostIndex = INT64_MAX;
constexpr uint64_t kMostExamples = 1'000'000'000;

// Requires a whole number from low to high. CLI11 would cut what is beyond 64 bits to what fits, take -1 for 2^64 - 1,
// and compare as doubles, which cannot tell the largest integers apart.
inline CLI::Validator WholeNumber(uint64_t low, uint64_t high) {
  const std::string range = std::to_string(low) + ".." + std::to_string(high);
  const auto check = [low, high, range](const std::string& text) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    const bool fits = error == std::errc() && at == end && low <= value && value <= high;
    return fits ? "" : "must be a whole number in " + range + ", got '" + text + "'";
  };
  return {check, high < kMostIndex ? range : ""};  // help need not show the largest integers
}

}  // namespace tra::cli

#endif  // TRA_CLI_WHOLE_NUMBER_H_
