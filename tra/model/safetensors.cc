#include "tra/model/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "tra/base/atomic_file.h"
#include "tra/base/input_file.h"
#include "tra/model/safetensors_header.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors files are little-endian; on this machine the elements would need their bytes swapped"
#endif

namespace tra {
namespace {

constexpr uint64_t kLengthBytes = 8;

// Copies `size` bytes from `offset` on; called only with ranges inside the file.
using Source = std::function<void(uint64_t offset, void* to, size_t size)>;

// Throws for a bool that is neither 0 nor 1, which would be undefined behaviour wherever it is used.
void CheckBools(const at::Tensor& tensor, const std::string& tensor_name, const std::string& file) {
  if (tensor.scalar_type() != at::kBool) return;
  const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
  const int64_t i = std::find_if(bytes, bytes + tensor.numel(), [](uint8_t byte) { return byte > 1; }) - bytes;
  if (i == tensor.numel()) return;
  throw SafetensorsError(AboutTensor(file, tensor_name) + "BOOL element " + std::to_string(i) + " is " +
                         std::to_string(bytes[i]) + ", neither 0 nor 1; store it as U8 or export it again");
}

SafetensorsFile Read(const Source& source, uint64_t size, const std::string& name) {
  if (size < kLengthBytes) {
    throw SafetensorsError(name + ": " + std::to_string(size) +
                           " bytes cannot hold a safetensors header; the file is truncated: copy it again");
  }
  uint64_t header_size = 0;
  source(0, &header_size, kLengthBytes);
  if (header_size > kMaxSafetensorsHeader) {
    throw SafetensorsError(name + ": a header of " + std::to_string(header_size) + " bytes is beyond the limit of " +
                           std::to_string(kMaxSafetensorsHeader) + "; this is not a safetensors file: check the path");
  }
  if (header_size > size - kLengthBytes) {
    throw SafetensorsError(name + ": header of " + std::to_string(header_size) + " bytes in a file of " +
                           std::to_string(size) + "; the file is truncated: copy it again");
  }
  std::string json(header_size, '\0');
  source(kLengthBytes, json.data(), json.size());
  const uint64_t data_begin = kLengthBytes + header_size;
  SafetensorsHeader header = ParseSafetensorsHeader(json.data(), json.size(), size - data_begin, name);

  SafetensorsFile result;
  result.metadata = std::move(header.metadata);
  for (const TensorEntry& entry : header.tensors) {
    const at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(entry.dtype).device(at::kCPU));
    if (entry.begin < entry.end) source(data_begin + entry.begin, tensor.data_ptr(), entry.end - entry.begin);
    CheckBools(tensor, entry.name, name);
    result.tensors.emplace(entry.name, tensor);
  }
  return result;
}

TensorEntry Describe(const std::string& name, const at::Tensor& tensor, const std::string& file) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta() || tensor.is_quantized()) {
    throw SafetensorsError(AboutTensor(file, name) +
                           "only plain tensors can be written; make it one, with .to_dense() or .dequantize()");
  }
  SafetensorsDtype(tensor.scalar_type(), name, file);
  return {name, tensor.scalar_type(), tensor.sizes().vec(), 0, 0};
}

}  // namespace

SafetensorsFile ReadSafetensors(const std::string& path) {
  try {
    const InputFile input(path);
    return Read([&](uint64_t offset, void* to, size_t size) { input.ReadAt(offset, to, size); }, input.Size(), path);
  } catch (const SafetensorsError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw SafetensorsError(error.what());
  }
}

SafetensorsFile ParseSafetensors(const void* bytes, size_t size, const std::string& name) {
  const auto* begin = static_cast<const char*>(bytes);
  return Read([&](uint64_t offset, void* to, size_t n) { std::memcpy(to, begin + offset, n); }, size, name);
}

void WriteSafetensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& [name, tensor] : tensors) header.tensors.push_back(Describe(name, tensor, path));
  // The map is already sorted by name.
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return c10::elementSize(a.dtype) > c10::elementSize(b.dtype);
  });
  const std::string json = LayOutSafetensorsHeader(header, path);
  const uint64_t length = json.size();
  try {
    AtomicFile file(path);
    file.Write(&length, kLengthBytes);
    file.Write(json.data(), json.size());
    for (const TensorEntry& entry : header.tensors) {
      // Copies one tensor at a time, and none that is already contiguous on the CPU.
      const at::Tensor tensor = tensors.at(entry.name).detach().to(at::kCPU).contiguous().resolve_neg();
      CheckBools(tensor, entry.name, path);
      file.Write(tensor.data_ptr(), entry.end - entry.begin);
    }
    file.Commit();
  } catch (const SafetensorsError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw SafetensorsError(error.what());
  }
}

}  // namespace tra
