// Writes files that appear under their name only when they are complete.
#ifndef TRA_BASE_ATOMIC_FILE_H_
#define TRA_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <string>

namespace tra {

// Writes to a temporary file beside `path`, which Commit renames to `path`. Without Commit the destructor removes the
// temporary file. A process killed before Commit leaves it behind, and leaves `path` as it was; the next process that
// writes to this directory removes it. Failures throw std::runtime_error that begins with `path`.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(const void* bytes, size_t size);
  // Overwrites what was written before, from `offset` on: for a header that is known only at the end.
  void Rewrite(size_t offset, const void* bytes, size_t size);
  void Commit();

 private:
  [[noreturn]] void Fail(const char* action, int error) const;

  std::string path_, directory_, temporary_;
  int fd_ = -1;
};

// Removes the temporary files that killed processes have left in a directory, and no others: a living writer holds a
// lock on its own, and those of a process that lives on this machine are left alone even without one.
void RemoveLeftovers(const std::string& directory);

}  // namespace tra

#endif  // TRA_BASE_ATOMIC_FILE_H_
