#include "tra/text/text_source.h"

#include <stdexcept>

namespace tra {
namespace {

// Returns the start of the first line that starts at or after `from`; npos if there is none.
size_t LineStart(std::string_view text, size_t from) {
  const size_t end = text.find('\n', from == 0 ? 0 : from - 1);
  return end == std::string_view::npos || end + 1 == text.size() ? std::string_view::npos : end + 1;
}

// Returns the first place in [from, to) where a line follows a blank one, or else where any line starts; npos if no
// line starts there. Blank lines are looked for in the first half only.
size_t FindCut(std::string_view text, size_t from, size_t to) {
  const size_t near = from + (to - from) / 2;
  size_t any = LineStart(text, from);
  if (any >= to) return std::string_view::npos;
  for (size_t line = any, next = 0; line < near; line = next) {
    next = LineStart(text, line + 1);
    if (next >= to) break;
    if (text.substr(line, next - line).find_first_not_of(" \t\r\n") == std::string_view::npos) return next;
  }
  return any;
}

}  // namespace

std::string_view PartOf(std::string_view file, const TextSource& source) {
  if (source.part.empty()) return file;
  const size_t percent90 = file.size() * 9 / 10, percent95 = file.size() * 19 / 20;
  const size_t valid = FindCut(file, percent90, percent95), test = FindCut(file, percent95, file.size());
  if (valid == std::string_view::npos || test == std::string_view::npos) {
    throw std::runtime_error(source.path +
                             ": has too few lines to be divided into train, valid and test texts; put three files of "
                             "these names (train.txt, valid.txt, test.txt) into a folder");
  }
  if (source.part == "train") return file.substr(0, valid);
  return source.part == "valid" ? file.substr(valid, test - valid) : file.substr(test);
}

}  // namespace tra
