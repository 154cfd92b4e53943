#ifndef TRA_OPS_ERROR_MESSAGE_H_
#define TRA_OPS_ERROR_MESSAGE_H_

#include <exception>
#include <string>

namespace tra {

// What an error says, without the stack that LibTorch's errors carry: that is for those who debug.
std::string ErrorMessage(const std::exception& error);

}  // namespace tra

#endif  // TRA_OPS_ERROR_MESSAGE_H_
