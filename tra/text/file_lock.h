// One process at a time.
#ifndef TRA_TEXT_FILE_LOCK_H_
#define TRA_TEXT_FILE_LOCK_H_

#include <string>

namespace tra {

// Waits until no other process holds a lock on this file, which is created if need be and stays. A process that ends,
// however it ends, lets go. Where the file system knows no locks, or the file cannot be made, there is no lock: what it
// guards must be safe without, only wasteful.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

}  // namespace tra

#endif  // TRA_TEXT_FILE_LOCK_H_
