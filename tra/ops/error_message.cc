#include "tra/ops/error_message.h"

#include <c10/util/Exception.h>

#include <stdexcept>

namespace tra {

std::string ErrorMessage(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  return torch != nullptr ? torch->what_without_backtrace() : error.what();
}

bool IsBadInput(const std::exception& error) {
  return dynamic_cast<const std::invalid_argument*>(&error) != nullptr ||
         dynamic_cast<const c10::ValueError*>(&error) != nullptr;
}

}  // namespace tra
