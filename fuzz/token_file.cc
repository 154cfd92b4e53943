// Reads bytes as a token cache. Their sums are put right first: no chance would ever hit them, and who wants to do harm
// computes them too.
#include "tra/text/token_file.h"

#include <stdexcept>
#include <vector>

#include "fuzz/harnesses.h"
#include "fuzz/memory_file.h"
#include "tra/base/checksum.h"

namespace tra::fuzz {
namespace {

constexpr size_t kHeader = 304, kSum = 64;  // bytes; the header ends with the sum of the ids and that of itself

std::string WithSums(std::string_view bytes) {
  std::string file(bytes);
  if (file.size() < kHeader) return file;
  file.replace(kHeader - 2 * kSum, kSum, Sha256Hex(bytes.substr(kHeader)));
  return file.replace(kHeader - kSum, kSum, Sha256Hex(std::string_view(file).substr(0, kHeader - kSum)));
}

}  // namespace

void ReadTokenFileBytes(std::string_view bytes) {
  const MemoryFile place(WithSums(bytes));
  try {
    const TokenFile file(place.Path());
    std::vector<int64_t> ids(static_cast<size_t>(file.Size()));
    file.Read(0, file.Size(), ids.data());
    for (const int64_t id : ids) Require(id >= 0 && id <= file.Info().largest_id, "an id is beyond the largest");
    Require(file.Info().words >= 0 && file.Info().lines >= 0 && file.Info().text_bytes >= 0, "a count is negative");
  } catch (const std::runtime_error&) {
  }
}

}  // namespace tra::fuzz
