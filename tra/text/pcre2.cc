#include "tra/text/pcre2.h"

#include <new>
#include <stdexcept>

namespace tra {

std::string Pcre2Message(int error) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(error, message, sizeof(message));
  return reinterpret_cast<const char*>(message);
}

Pcre2Code CompilePcre2(const std::string& pattern, uint32_t options) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Pcre2Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &error, &offset,
                               /*ccontext=*/nullptr));
  if (!code) {
    throw std::runtime_error("PCRE2 cannot compile " + pattern + ": " + Pcre2Message(error) + " at " +
                             std::to_string(offset) + "; install a PCRE2 that was built with Unicode");
  }
  // This may fail: where there is no just-in-time compiler, the interpreter is used.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

Pcre2Match NewPcre2Match() {
  Pcre2Match match(pcre2_match_data_create(/*ovecsize=*/1, /*gcontext=*/nullptr));
  if (!match) throw std::bad_alloc();
  return match;
}

std::string Pcre2UnicodeVersion() {
  char version[64] = "";
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version);
  return version;
}

size_t ValidUtf8Prefix(std::string_view text, pcre2_match_data& match) {
  // The pattern matches at once, but before that PCRE2 checks that the text is UTF-8.
  static const Pcre2Code kNothing = CompilePcre2("", PCRE2_UTF);
  const int found = pcre2_match(kNothing.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, &match,
                                /*mcontext=*/nullptr);
  if (found >= 0) return text.size();
  if (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21) return pcre2_get_startchar(&match);
  throw std::runtime_error("PCRE2 cannot check UTF-8: " + Pcre2Message(found));
}

}  // namespace tra
