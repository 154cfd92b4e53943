#include "tra/run/parse_toml.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "tra/base/input_file.h"

namespace tra {
namespace {

constexpr int kMostDots = 16, kMostBrackets = 32;

// Returns where the string that begins at `at` ends: at its last quote, or where toml++ finds that it has none.
size_t EndOfString(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool is_long = text.substr(at, 3) == three;
  for (size_t end = at + (is_long ? 3 : 1); end < text.size(); ++end) {
    if (text[end] == '\\' && quote == '"') {
      ++end;
    } else if (!is_long && (text[end] == quote || text[end] == '\n')) {
      return end;
    } else if (is_long && text.substr(end, 3) == three) {
      end += 2;
      for (int more = 0; more < 2 && end + 1 < text.size() && text[end + 1] == quote; ++more) ++end;
      return end;
    }
  }
  return text.size() - 1;
}

// Throws if a key has too many parts or brackets stand too deep in each other, before a parser makes tables of them.
// Follows the text as far as it is TOML; toml++ refuses the rest.
void CheckDepth(std::string_view text, const std::string& name) {
  int dots = 0, brackets = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '#':
        at = std::min(text.find('\n', at), text.size()) - 1;
        break;
      case '"':
      case '\'':
        at = EndOfString(text, at);
        break;
      case '.':
        ++dots;
        break;
      case '[':
      case '{':
        ++brackets;
        dots = 0;
        break;
      case ']':
      case '}':
        brackets = std::max(0, brackets - 1);
        dots = 0;
        break;
      case '=':
      case ',':
      case '\n':
        dots = 0;
        break;
      default:
        break;
    }
    if (dots <= kMostDots && brackets <= kMostBrackets) continue;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw std::invalid_argument(name + ":" + std::to_string(line) + ": is nested too deep; a key has at most " +
                                std::to_string(kMostDots + 1) + " parts, and there are at most " +
                                std::to_string(kMostBrackets) + " brackets in each other");
  }
}

}  // namespace

toml::table ParseToml(const std::string& text, const std::string& name) {
  if (text.size() > kMostTomlBytes) {
    throw std::invalid_argument(name + ": has " + std::to_string(text.size()) + " bytes of TOML, more than the " +
                                std::to_string(kMostTomlBytes) + " that are read; check what it is");
  }
  CheckDepth(text, name);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw std::invalid_argument(name + ":" + std::to_string(error.source().begin.line) + ": " +
                                std::string(error.description()));
  }
}

toml::table ParseTomlFile(const std::string& path) {
  std::string text;
  try {
    text = ReadFile(path, kMostTomlBytes);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
  return ParseToml(text, path);
}

}  // namespace tra
