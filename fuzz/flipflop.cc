// Reads bytes as lines of flip-flop. Every sequence that is taken reads the bit that was last written.
#include <stdexcept>

#include "fuzz/harnesses.h"
#include "fuzz/memory_file.h"
#include "tra/tasks/flipflop_lines.h"

namespace tra::fuzz {

void ReadFlipflopBytes(std::string_view bytes) {
  const MemoryFile place(bytes);
  try {
    const FlipflopLines lines(place.Path());
    for (uint64_t index = 0; index < *lines.Size(); ++index) {
      const Example example = lines.At(index);
      int32_t written = -1;
      for (size_t at = 1; at < example.tokens.size(); at += 2) {
        if (example.tokens[at - 1] == 1) written = example.tokens[at];  // w
        if (example.supervised[at] != 0) Require(example.tokens[at] == written, "a read returns another bit");
      }
    }
  } catch (const std::runtime_error&) {
  }
}

}  // namespace tra::fuzz
