// A file as a range of bytes that the system reads in when they are looked at.
#ifndef TRA_BASE_MAPPED_FILE_H_
#define TRA_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace tra {

// Read only. The bytes stay as they are when another file takes the name, as AtomicFile does; a file that somebody cuts
// short in place takes its pages away, and the process with them. Failures throw std::runtime_error that begins with
// the path.
class MappedFile {
 public:
  MappedFile() = default;  // no bytes
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
