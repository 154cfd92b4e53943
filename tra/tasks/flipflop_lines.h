// Reads flip-flop sequences in the text form of the public dataset: one per line, such as `w1i0i1r1`.
#ifndef TRA_TASKS_FLIPFLOP_LINES_H_
#define TRA_TASKS_FLIPFLOP_LINES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tra/base/input_file.h"
#include "tra/tasks/example.h"

namespace tra {

// Gives the sequences of a file of such lines, and skips lines that are empty or begin with #. Opening it checks every
// line: a file that is not flip-flop throws std::runtime_error with the line's number, what is wrong and what would be
// right. Lines are read when they are asked for, because such files may be larger than memory.
class FlipflopLines : public ExampleSource {
 public:
  explicit FlipflopLines(const std::string& path);

  Example At(uint64_t index) const override;  // throws std::out_of_range
  std::optional<uint64_t> Size() const override { return lines_.size(); }

  struct Counts {
    int64_t write = 0, read = 0, ignore = 0;  // instructions, without the first and the last of each line
    size_t shortest = 0, longest = 0;         // symbols per line
  };
  const Counts& counts() const { return counts_; }
  // Returns the share of i among the instructions that were drawn: the first and the last of a line were not.
  double IgnoreRate() const;

 private:
  struct Place {
    uint64_t offset = 0;
    size_t size = 0;
  };

  void AddLine(std::string_view line, uint64_t offset, int64_t number);
  void CheckLine(std::string_view line, const std::string& place);

  InputFile file_;
  std::vector<Place> lines_;
  Counts counts_;
};

}  // namespace tra

#endif  // TRA_TASKS_FLIPFLOP_LINES_H_
