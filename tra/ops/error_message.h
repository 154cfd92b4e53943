#ifndef TRA_OPS_ERROR_MESSAGE_H_
#define TRA_OPS_ERROR_MESSAGE_H_

#include <exception>
#include <string>

namespace tra {

// Returns an error's message without the stack trace that LibTorch's errors carry.
std::string ErrorMessage(const std::exception& error);

// Returns whether an error is about input that the caller must change: std::invalid_argument or, where LibTorch throws,
// TORCH_CHECK_VALUE, which Python sees as ValueError. All other errors are failures: of the machine, of a file, or of a
// call at the wrong time.
bool IsBadInput(const std::exception& error);

}  // namespace tra

#endif  // TRA_OPS_ERROR_MESSAGE_H_
