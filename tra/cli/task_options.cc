#include "tra/cli/task_options.h"

#include <charconv>
#include <stdexcept>

#include "tra/cli/whole_number.h"

namespace tra::cli {

Range ParseLengths(const std::string& text) {
  Range range;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, range.low);
  range.high = range.low;
  const std::string_view rest_of(at, static_cast<size_t>(end - at));
  const size_t separator = rest_of.rfind("..", 0) == 0 ? 2 : rest_of.rfind('-', 0) == 0 ? 1 : 0;
  if (error == std::errc() && separator > 0) {
    const auto rest = std::from_chars(at + separator, end, range.high);
    at = rest.ptr;
    error = rest.ec;
  }
  if (error != std::errc() || at != end) {
    throw std::invalid_argument("--lengths must be a number or a range such as 51-100, got '" + text + "'");
  }
  return range;
}

GeneratedExamples TaskChoice::Examples() const {
  TaskOptions all = options;
  if (!lengths.empty()) all.lengths = ParseLengths(lengths);
  if (task == "jsonl") {
    throw std::invalid_argument(
        "jsonl: its examples are in files already; tra data show jsonl --folder FOLDER shows them");
  }
  return GeneratedExamples(task, split.empty() ? "iid" : split, seed, all);
}

void AddTaskOptions(CLI::App& command, TaskChoice& choice) {
  command.add_option("task", choice.task, "one of the tasks in tra list")->required();
  command.add_option("--split", choice.split, "train, iid (the default), or one of the task's others (tra list)");
  command.add_option("--seed", choice.seed, "seed of the examples")
      ->check(WholeNumber(0, kAnySeed))
      ->capture_default_str();
  command.add_option("--lengths", choice.lengths, "lengths instead of the split's: 51-100, or 300");
  command.add_option("--symbols", choice.options.symbols, "number of symbols to draw from, instead of the task's")
      ->check(WholeNumber(1, kMostIndex));
  command.add_option("--pack", choice.options.pack, "fill sequences of this many symbols with examples (0: do not)")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command.add_option("--offset", choice.options.offset, "put up to this many pads before a sequence")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
}

}  // namespace tra::cli
