// Is the entry of libFuzzer for one harness, the function TRA_HARNESS.
#include <cstddef>
#include <cstdint>

#include "fuzz/harnesses.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  tra::fuzz::TRA_HARNESS({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
