// Reads files that others may have made: never waits for one that is not a regular file, never maps memory that could
// vanish, and takes no more bytes than the caller allows.
#ifndef TRA_BASE_INPUT_FILE_H_
#define TRA_BASE_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tra {

// Is a regular file that is open for reading. Pipes and devices are refused: opening one could wait for ever, and
// reading one might never end. The bytes stay as they are if another file is renamed to this name, as AtomicFile does;
// if the file is truncated in place, reading the lost part fails. Failures throw std::runtime_error that begins with
// the path; what the system refused is a SystemError. Threads may share a file.
class InputFile {
 public:
  InputFile() = default;  // no bytes
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  uint64_t Size() const { return size_; }  // when it was opened
  const std::string& Path() const { return path_; }
  int Descriptor() const { return fd_; }
  // Copies the `size` bytes from `offset` on.
  void ReadAt(uint64_t offset, void* to, size_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Returns the bytes of a regular file. One that has more than `most` is refused before it is read.
std::string ReadFile(const std::string& path, uint64_t most);

// Does the same for a file that may be missing: returns nothing if it cannot be read.
std::optional<std::string> ReadFileIfAny(const std::string& path, uint64_t most);

}  // namespace tra

#endif  // TRA_BASE_INPUT_FILE_H_
