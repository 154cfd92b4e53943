// Lists what is fuzzed: for each format that may come from elsewhere, a function that reads any bytes as that format.
// It returns if they are refused with an error of the documented kind, and checks what is promised of those that are
// taken.
#ifndef FUZZ_HARNESSES_H_
#define FUZZ_HARNESSES_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tra::fuzz {

struct Harness {
  const char* name;  // also of the folder of its seeds
  void (*run)(std::string_view bytes);
};

void ReadSafetensorsBytes(std::string_view bytes);
void ReadConfigBytes(std::string_view bytes);
void ReadResultsBytes(std::string_view bytes);
void ReadBpeBytes(std::string_view bytes);
void ReadTokenFileBytes(std::string_view bytes);
void ReadFlipflopBytes(std::string_view bytes);

constexpr Harness kHarnesses[] = {
    {"safetensors", &ReadSafetensorsBytes}, {"config", &ReadConfigBytes},
    {"results", &ReadResultsBytes},         {"bpe", &ReadBpeBytes},
    {"token_file", &ReadTokenFileBytes},    {"flipflop", &ReadFlipflopBytes},
};

// Ends the process, which is how libFuzzer learns of a finding.
inline void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

}  // namespace tra::fuzz

#endif  // FUZZ_HARNESSES_H_
