// One process at a time.
#ifndef TRA_BASE_FILE_LOCK_H_
#define TRA_BASE_FILE_LOCK_H_

#include <cstdint>
#include <string>

namespace tra {

// A lock on a file, which is created if need be and stays. A process that ends, however it ends, lets go. Where the
// file system knows no locks, or the file cannot be made, there is no lock but an error.
class FileLock {
 public:
  enum class Wait : uint8_t { kUntilFree, kNo };

  explicit FileLock(const std::string& path, Wait wait = Wait::kUntilFree);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool HeldByAnother() const { return held_by_another_; }  // only if it did not wait
  bool HasFile() const { return fd_ >= 0; }
  // Why there is no lock, as errno says it; 0 where this or another process has it.
  int Error() const { return error_; }

 private:
  int fd_;
  bool held_by_another_ = false;
  int error_ = 0;
};

}  // namespace tra

#endif  // TRA_BASE_FILE_LOCK_H_
