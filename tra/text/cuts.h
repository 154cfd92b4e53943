// Finds places where a text can be cut without changing the ids of its tokens.
#ifndef TRA_TEXT_CUTS_H_
#define TRA_TEXT_CUTS_H_

#include <cstddef>
#include <string_view>

namespace tra {

// Tells whether c is one of ASCII's White_Space characters.
constexpr bool IsAsciiSpace(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

// Returns the first cut at or after `from`, or the end of the text. A cut lies between an ASCII character that is not a
// space and an ASCII space. No piece of the splitting pattern crosses such a place, and only runs of spaces depend on
// what follows them. As both sides are ASCII, no UTF-8 character is broken either.
inline size_t NextCut(std::string_view text, size_t from) {
  for (size_t i = from == 0 ? 1 : from; i < text.size(); ++i) {
    const char before = text[i - 1];
    if (IsAsciiSpace(text[i]) && !IsAsciiSpace(before) && static_cast<unsigned char>(before) < 0x80) return i;
  }
  return text.size();
}

}  // namespace tra

#endif  // TRA_TEXT_CUTS_H_
