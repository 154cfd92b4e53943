// Checks whether bytes are text.
#ifndef TRA_TEXT_TEXT_CHECK_H_
#define TRA_TEXT_TEXT_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tra {

struct TextFault {
  size_t offset;
  const char* what;  // what is wrong, and what to do about it
};

// Returns the first byte that is NUL or not UTF-8, or nothing if there is none.
std::optional<TextFault> FindTextFault(std::string_view text);

// Throws std::runtime_error that says where in the file `path` the fault is. `text` must hold the file at least up to
// there.
[[noreturn]] void ThrowTextFault(const std::string& path, std::string_view text, const TextFault& fault);

}  // namespace tra

#endif  // TRA_TEXT_TEXT_CHECK_H_
