// Makes text from elsewhere fit for where it goes: a terminal, a table, a message, a shell.
#ifndef TRA_BASE_TEXT_H_
#define TRA_BASE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace tra {

// Says whether text has characters that control a terminal or end a line: those of ASCII (also DEL) and of Latin-1.
bool HasControls(std::string_view text);

// Returns the text with every control character but those in `except` replaced by a space.
std::string WithoutControls(std::string_view text, std::string_view except = "");

// Returns the text, cut to at most `most` bytes, of which the last is not within a character, and dots if it was cut.
std::string Shortened(std::string_view text, size_t most);

// Returns text as one word of a shell's command.
std::string ShellQuoted(std::string_view text);

}  // namespace tra

#endif  // TRA_BASE_TEXT_H_
