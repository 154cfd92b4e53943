#include "tra/text/pieces.h"

#include <stdexcept>

#include "tra/text/pcre2.h"

namespace tra {
namespace {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ is the pattern as OpenAI published it.
// Here \s is spelt out: in GPT-2's code it means Unicode's White_Space; in PCRE2 it means ASCII's, or with the option
// for Unicode, White_Space and U+180E.
const std::string& Pattern() {
  static const std::string kSpaces =
      R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
  static const std::string kPattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" + kSpaces +
                                      R"(\p{L}\p{N}]+|[)" + kSpaces + "]+(?![^" + kSpaces + "])|[" + kSpaces + "]+";
  return kPattern;
}

struct Splitter {
  Pcre2Code code = CompilePcre2(Pattern(), PCRE2_UTF | PCRE2_ANCHORED);
  bool jit = false;

  Splitter() {
    size_t size = 0;
    jit = pcre2_pattern_info(code.get(), PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
  }
};

const Splitter& TheSplitter() {
  static const Splitter kSplitter;
  return kSplitter;
}

}  // namespace

struct Pieces::State {
  const Splitter& splitter = TheSplitter();
  bool jit;
  Pcre2Match match = NewPcre2Match();

  explicit State(Engine engine) : jit(splitter.jit && engine == Engine::kFastest) {}

  // Skips PCRE2's own check of UTF-8, which would go through all the rest of the text in every call; Next has done it.
  int Match(std::string_view subject, size_t begin) {
    const auto* bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
    if (jit) return pcre2_jit_match(splitter.code.get(), bytes, subject.size(), begin, 0, match.get(), nullptr);
    return pcre2_match(splitter.code.get(), bytes, subject.size(), begin, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                       match.get(), nullptr);
  }
};

Pieces::Pieces(std::string_view text, Engine engine) : text_(text), state_(std::make_unique<State>(engine)) {}
Pieces::~Pieces() = default;

bool Pieces::Next(std::string_view& piece) {
  if (begin_ == text_.size()) return false;
  if (begin_ == valid_end_) {
    valid_end_ += ValidUtf8Prefix(text_.substr(begin_), *state_->match);
    if (begin_ == valid_end_) {
      piece = text_.substr(begin_++, 1);
      valid_end_ = begin_;
      return true;
    }
  }
  // Every character begins some alternative of the pattern, so anything but a match is a failure of the engine.
  const int found = state_->Match(text_.substr(0, valid_end_), begin_);
  if (found < 0) {
    throw std::runtime_error("PCRE2 cannot split the text at byte " + std::to_string(begin_) + ": " +
                             Pcre2Message(found) + "; break its longest lines");
  }
  const size_t end = pcre2_get_ovector_pointer(state_->match.get())[1];
  piece = text_.substr(begin_, end - begin_);
  begin_ = end;
  return true;
}

std::string Pieces::Rule() { return Pattern() + " in Unicode " + Pcre2UnicodeVersion(); }

}  // namespace tra
