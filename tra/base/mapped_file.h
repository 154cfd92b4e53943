// Gives access to a file as a range of bytes, which the system reads when they are first used.
#ifndef TRA_BASE_MAPPED_FILE_H_
#define TRA_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "tra/base/input_file.h"

namespace tra {

// Maps a file for reading. The bytes stay as they are if another file is renamed to this name, as AtomicFile does. But
// if the file is truncated in place, reading the lost part kills the process, so only what is read once and may be
// larger than memory is mapped; everything else is read with InputFile. Failures throw std::runtime_error that begins
// with the path; what the system refused is a SystemError.
class MappedFile {
 public:
  MappedFile() = default;  // no bytes
  explicit MappedFile(const InputFile& file);
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::string_view Bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tra

#endif  // TRA_BASE_MAPPED_FILE_H_
