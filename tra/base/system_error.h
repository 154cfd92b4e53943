// Reports that the system refused a call.
#ifndef TRA_BASE_SYSTEM_ERROR_H_
#define TRA_BASE_SYSTEM_ERROR_H_

#include <cerrno>
#include <stdexcept>
#include <string>

namespace tra {

// Tells a file that is not there from one that the system would not show: the latter (no permission, no memory, too
// many open files) says nothing about what is in the file, so nobody may call it damaged or take it for absent.
class SystemError : public std::runtime_error {
 public:
  // `error` is an errno.
  SystemError(const std::string& what, int error) : std::runtime_error(what), error_(error) {}

  bool MeansMissing() const { return error_ == ENOENT || error_ == ENOTDIR; }

 private:
  int error_;
};

}  // namespace tra

#endif  // TRA_BASE_SYSTEM_ERROR_H_
