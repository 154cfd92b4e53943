#include "tra/base/text.h"

namespace tra {
namespace {

// Returns the number of bytes of the control character that begins at `at`; 0 if none does.
size_t ControlAt(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  // U+0080 to U+009F; some terminals take U+009B for the beginning of a command.
  if (byte != 0xC2 || at + 1 == text.size()) return 0;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0x80 && next <= 0x9F ? 2 : 0;
}

}  // namespace

bool HasControls(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (ControlAt(text, at) > 0) return true;
  }
  return false;
}

std::string WithoutControls(std::string_view text, std::string_view except) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t size = ControlAt(text, at);
    const bool replaced = size > 0 && except.find(text[at]) == std::string_view::npos;
    clean += replaced ? ' ' : text[at];
    if (replaced) at += size - 1;
  }
  return clean;
}

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0u) == 0x80u) --most;
  return std::string(text.substr(0, most)) + "...";
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace tra
