// A file that appears under its name whole or not at all.
#ifndef TRA_BASE_ATOMIC_FILE_H_
#define TRA_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <string>

namespace tra {

// Writes to a temporary name beside `path`; Commit puts it in the place of `path`. Destroyed without Commit, it leaves
// no trace. A process killed before Commit leaves the temporary file and whatever was at `path`. Failures throw
// std::runtime_error that begins with `path`.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(const void* bytes, size_t size);
  // Over what was written before, from `offset` on: for a header that is known only at the end.
  void Rewrite(size_t offset, const void* bytes, size_t size);
  void Commit();

 private:
  [[noreturn]] void Fail(const char* action, int error) const;

  std::string path_, directory_, temporary_;
  int fd_ = -1;
};

}  // namespace tra

#endif  // TRA_BASE_ATOMIC_FILE_H_
