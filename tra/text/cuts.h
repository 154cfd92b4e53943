// Where a text can be cut without changing any id.
#ifndef TRA_TEXT_CUTS_H_
#define TRA_TEXT_CUTS_H_

#include <cstddef>
#include <string_view>

namespace tra {

// The White_Space characters of ASCII.
constexpr bool IsAsciiSpace(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

// The first cut at or after `from`, or the end: before an ASCII space that follows an ASCII character that is none. No
// piece of the splitting pattern goes on over such a place, and the only thing that looks ahead is a run of spaces.
// Both sides being ASCII, no character of UTF-8 is broken either.
inline size_t NextCut(std::string_view text, size_t from) {
  for (size_t i = from == 0 ? 1 : from; i < text.size(); ++i) {
    const char before = text[i - 1];
    if (IsAsciiSpace(text[i]) && !IsAsciiSpace(before) && static_cast<unsigned char>(before) < 0x80) return i;
  }
  return text.size();
}

}  // namespace tra

#endif  // TRA_TEXT_CUTS_H_
