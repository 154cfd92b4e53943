#include "tra/tasks/flipflop_lines.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "tra/tasks/flipflop.h"

namespace tra {
namespace {

using namespace flipflop;

constexpr size_t kBlock = size_t{1} << 20, kLongestLine = size_t{64} << 20;  // bytes

std::string Shown(char c) {
  if (std::isprint(static_cast<unsigned char>(c)) != 0) return std::string("'") + c + "'";
  return "byte " + std::to_string(static_cast<unsigned char>(c));
}

}  // namespace

FlipflopLines::FlipflopLines(const std::string& path) : file_(path) {
  std::string block;
  int64_t number = 1;
  uint64_t begin = 0;  // of the line that comes next
  for (size_t wanted = kBlock; begin < file_.Size();) {
    block.resize(std::min<uint64_t>(wanted, file_.Size() - begin));
    file_.ReadAt(begin, block.data(), block.size());
    const bool last = begin + block.size() == file_.Size();
    std::string_view rest = block;
    for (size_t end = rest.find('\n'); end != std::string_view::npos || (last && !rest.empty());
         end = rest.find('\n')) {
      AddLine(rest.substr(0, end), begin, number++);
      const size_t used = std::min(rest.size(), end == std::string_view::npos ? end : end + 1);
      rest.remove_prefix(used);
      begin += used;
    }
    if (rest.size() == kLongestLine) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": is longer than " +
                               std::to_string(kLongestLine) + " bytes; expected lines such as w1i0i1r1");
    }
    wanted = rest.size() == block.size() ? kLongestLine : kBlock;  // a line that is longer than a block
  }
  if (lines_.empty()) {
    throw std::runtime_error(path + ": holds no sequence; expected lines such as w1i0i1r1, one sequence each");
  }
}

void FlipflopLines::AddLine(std::string_view line, uint64_t offset, int64_t number) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty() || line.front() == '#') return;
  CheckLine(line, file_.Path() + ":" + std::to_string(number) + ": ");
  lines_.push_back({offset, line.size()});
}

void FlipflopLines::CheckLine(std::string_view line, const std::string& place) {
  const auto fail = [&](size_t at, const std::string& what) {
    throw std::runtime_error(place + "symbol " + std::to_string(at + 1) + " " + what);
  };
  char memory = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char symbol = line[at];
    if (at % 2 == 0) {
      if (symbol != 'w' && symbol != 'r' && symbol != 'i') {
        fail(at, "is " + Shown(symbol) + ", but instructions are w, r and i");
      }
      continue;
    }
    if (symbol != '0' && symbol != '1') fail(at, "is " + Shown(symbol) + ", but a bit, 0 or 1, follows an instruction");
    const char instruction = line[at - 1];
    if (at == 1 && instruction != 'w') fail(0, "is " + Shown(instruction) + ", but the first instruction must be w");
    if (instruction == 'w') memory = symbol;
    if (instruction == 'r' && symbol != memory) {
      fail(at, "is " + Shown(symbol) + ", but the bit after r must be the last written, " + Shown(memory));
    }
    const bool drawn = at > 1 && at + 1 < line.size();
    if (drawn) ++(instruction == 'w' ? counts_.write : instruction == 'r' ? counts_.read : counts_.ignore);
  }
  if (line.size() % 2 != 0)
    fail(line.size() - 1, "is the last, but a bit must follow an instruction; is the line cut?");
  if (line.size() < 2 * kFewestInstructions) {
    fail(line.size() - 1, "is the last, but a sequence needs a w and an r at least");
  }
  if (line[line.size() - 2] != 'r') fail(line.size() - 2, "begins the last instruction, which must be r");
  counts_.shortest = lines_.empty() ? line.size() : std::min(counts_.shortest, line.size());
  counts_.longest = std::max(counts_.longest, line.size());
}

Example FlipflopLines::At(uint64_t index) const {
  if (index >= lines_.size()) {
    throw std::out_of_range("sequence " + std::to_string(index) + " of " + std::to_string(lines_.size()));
  }
  std::string line(lines_[index].size, '\0');
  file_.ReadAt(lines_[index].offset, line.data(), line.size());
  const auto token = [&](char symbol) {
    switch (symbol) {
      case 'w':
        return kWrite;
      case 'r':
        return kRead;
      case 'i':
        return kIgnored;
      case '0':
        return kZero;
      case '1':
        return kOne;
      default:
        throw std::runtime_error(file_.Path() + ": changed while it was in use; start again");
    }
  };
  Example example;
  char before = 0;
  for (const char symbol : line) {
    example.Add(token(symbol), before == 'r');
    before = symbol;
  }
  return example;
}

double FlipflopLines::IgnoreRate() const {
  const int64_t drawn = counts_.write + counts_.read + counts_.ignore;
  return drawn == 0 ? 0.0 : static_cast<double>(counts_.ignore) / static_cast<double>(drawn);
}

}  // namespace tra
