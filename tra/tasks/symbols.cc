#include "tra/tasks/symbols.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "tra/base/names.h"

namespace tra {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

class Reader {
 public:
  explicit Reader(const Symbols& symbols) : symbols_(symbols) {
    for (size_t id = 0; id < symbols.names.size(); ++id) {
      ids_.emplace(symbols.names[id], static_cast<int32_t>(id));
      longest_ = std::max(longest_, symbols.names[id].size());
    }
  }

  int32_t Whole(std::string_view word) const {
    const auto found = ids_.find(word);
    if (found == ids_.end()) Fail(word);
    return found->second;
  }

  // Removes the first name from the word and returns its id.
  int32_t First(std::string_view& word) const {
    const size_t size = PrefixSize(word);
    if (size == 0) {  // reports all up to the next known name
      size_t end = 1;
      while (end < word.size() && PrefixSize(word.substr(end)) == 0) ++end;
      Fail(word.substr(0, end));
    }
    const int32_t id = ids_.at(word.substr(0, size));
    word.remove_prefix(size);
    return id;
  }

 private:
  // Returns the size of the longest name that the word begins with, or 0 if there is none.
  size_t PrefixSize(std::string_view word) const {
    size_t size = std::min(longest_, word.size());
    while (size > 0 && ids_.count(word.substr(0, size)) == 0) --size;
    return size;
  }

  [[noreturn]] void Fail(std::string_view word) const {
    throw std::invalid_argument(
        UnknownName("symbol of " + symbols_.task, std::string(word), symbols_.names, symbols_.help));
  }

  const Symbols& symbols_;
  std::map<std::string_view, int32_t> ids_;
  size_t longest_ = 0;
};

}  // namespace

std::vector<int32_t> ParseSymbols(std::string_view text, const Symbols& symbols) {
  const Reader reader(symbols);
  const bool blanks_between = !symbols.separator.empty();
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    std::string_view word = text.substr(at, end - at);
    if (blanks_between) {
      ids.push_back(reader.Whole(word));
    } else {
      while (!word.empty()) ids.push_back(reader.First(word));
    }
    at = text.find_first_not_of(kBlanks, end);
  }
  return ids;
}

std::vector<int32_t> ParseSymbols(std::string_view text, const Task& task, const std::vector<std::string>& names) {
  return ParseSymbols(text, {task.name, task.kind.separator, names, "tra data show " + std::string(task.name)});
}

}  // namespace tra
