// Reads and writes named tensors in files of the safetensors format:
//
//   8 bytes   length N of the header, little-endian
//   N bytes   JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//             "__metadata__": {"key": "value", ...}}, in UTF-8, padded with spaces
//   the rest  the elements in row-major order, little-endian; offsets count from here
//
// Nothing in a file is trusted: what is read is either exactly what the header says or an error. The ranges must cover
// the data without holes or overlaps, as in the format's reference implementation.
#ifndef TRA_MODEL_SAFETENSORS_H_
#define TRA_MODEL_SAFETENSORS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

namespace tra {

// Reports a failure with a message that begins with the name of the file and says what to do.
class SafetensorsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SafetensorsFile {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Reads a file. Each tensor owns its memory, so the file may change or disappear afterwards.
SafetensorsFile ReadSafetensors(const std::string& path);

// Does the same from memory; `name` stands for the file in errors.
SafetensorsFile ParseSafetensors(const void* bytes, size_t size, const std::string& name);

// Writes tensors of any device and strides. The file appears complete or not at all: after a failure `path` is as it
// was. Equal tensors and metadata give equal bytes: wider elements come first, so that all are aligned, then the order
// is by name.
void WriteSafetensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace tra

#endif  // TRA_MODEL_SAFETENSORS_H_
