// Wraps what we use of PCRE2, with owners for its objects. This header is not installed.
#ifndef TRA_TEXT_PCRE2_H_
#define TRA_TEXT_PCRE2_H_

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tra {

struct Pcre2Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Pcre2Code = std::unique_ptr<pcre2_code, Pcre2Free>;
using Pcre2Match = std::unique_ptr<pcre2_match_data, Pcre2Free>;

Pcre2Code CompilePcre2(const std::string& pattern, uint32_t options);
Pcre2Match NewPcre2Match();
std::string Pcre2Message(int error);
std::string Pcre2UnicodeVersion();

// Returns how many bytes from the start are valid UTF-8.
size_t ValidUtf8Prefix(std::string_view text, pcre2_match_data& match);

}  // namespace tra

#endif  // TRA_TEXT_PCRE2_H_
