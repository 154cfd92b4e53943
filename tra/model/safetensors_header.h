// Parses, checks and writes the JSON header of a safetensors file. Users include safetensors.h instead.
#ifndef TRA_MODEL_SAFETENSORS_HEADER_H_
#define TRA_MODEL_SAFETENSORS_HEADER_H_

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tra {

constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // bytes; as in the reference implementation
constexpr size_t kMaxSafetensorsDims = 32;               // the limit of NumPy

struct TensorEntry {
  std::string name;
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};

// Parses and checks a header. The tensors are sorted by ascending offset; together they cover [0, data_size) exactly,
// and each range fits its shape.
SafetensorsHeader ParseSafetensorsHeader(const char* json, size_t size, uint64_t data_size, const std::string& file);

// Fills in the offsets of a header whose shapes are set, in the order of the tensors, and returns its JSON. It is
// padded so that what follows it in the file is 8-byte aligned.
std::string LayOutSafetensorsHeader(SafetensorsHeader& header, const std::string& file);

// Returns the name of a dtype, such as "F32"; throws for a dtype that the format lacks.
const char* SafetensorsDtype(at::ScalarType dtype, const std::string& tensor, const std::string& file);

// Returns the beginning of a message about one tensor. Names may be long or unprintable, so they are shown as JSON and
// shortened.
std::string AboutTensor(const std::string& file, const std::string& tensor);

}  // namespace tra

#endif  // TRA_MODEL_SAFETENSORS_HEADER_H_
