#include "tra/ops/error_message.h"

#include <c10/util/Exception.h>

namespace tra {

std::string ErrorMessage(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  return torch != nullptr ? torch->what_without_backtrace() : error.what();
}

}  // namespace tra
