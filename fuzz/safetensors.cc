// Reads bytes as a safetensors file. One that is taken can be written, and is then the same.
#include "tra/model/safetensors.h"

#include <ATen/ATen.h>

#include "fuzz/harnesses.h"
#include "fuzz/memory_file.h"

namespace tra::fuzz {

void ReadSafetensorsBytes(std::string_view bytes) {
  SafetensorsFile file;
  try {
    file = ParseSafetensors(bytes.data(), bytes.size(), "fuzz");
  } catch (const SafetensorsError&) {
    return;
  }
  const SafetensorsFile again = ReadSafetensors(MemoryFile(bytes).Path());
  Require(again.metadata == file.metadata && again.tensors.size() == file.tensors.size(), "a file reads otherwise");
  for (const auto& [name, tensor] : file.tensors) {
    const at::Tensor other = again.tensors.at(name);
    Require(other.sizes() == tensor.sizes() && other.scalar_type() == tensor.scalar_type(), "a tensor reads otherwise");
  }
}

}  // namespace tra::fuzz
