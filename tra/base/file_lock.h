// Makes sure that only one process uses a file at a time.
#ifndef TRA_BASE_FILE_LOCK_H_
#define TRA_BASE_FILE_LOCK_H_

#include <cstdint>
#include <string>

namespace tra {

// Locks a file, which is created if necessary and never removed. The destructor releases the lock, and so does the end
// of the process, whatever its cause. If the file system does not support locks, or the file cannot be created, there
// is no lock and Error says why.
class FileLock {
 public:
  enum class Wait : uint8_t { kUntilFree, kNo };

  explicit FileLock(const std::string& path, Wait wait = Wait::kUntilFree);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool HeldByAnother() const { return held_by_another_; }  // always false with Wait::kUntilFree
  bool HasFile() const { return fd_ >= 0; }
  // Returns the errno that tells why there is no lock; 0 if this or another process holds it.
  int Error() const { return error_; }

 private:
  int fd_;
  bool held_by_another_ = false;
  int error_ = 0;
};

}  // namespace tra

#endif  // TRA_BASE_FILE_LOCK_H_
