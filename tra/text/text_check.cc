#include "tra/text/text_check.h"

#include <algorithm>
#include <stdexcept>

#include "tra/text/pcre2.h"

namespace tra {

std::optional<TextFault> FindTextFault(std::string_view text) {
  const size_t nul = text.find('\0');
  const Pcre2Match match = NewPcre2Match();
  const size_t valid = ValidUtf8Prefix(text, *match);
  if (nul < valid) return TextFault{nul, "is NUL, so this is not text; name a file of plain text"};
  if (valid < text.size()) {
    return TextFault{valid,
                     "is not UTF-8; convert it, for example with iconv -f LATIN1 -t UTF-8, or name another file"};
  }
  return std::nullopt;
}

void ThrowTextFault(const std::string& path, std::string_view text, const TextFault& fault) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(fault.offset), '\n');
  throw std::runtime_error(path + ": line " + std::to_string(line) + ", byte " + std::to_string(fault.offset) + " " +
                           fault.what);
}

}  // namespace tra
