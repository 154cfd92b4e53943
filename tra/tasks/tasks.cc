#include "tra/base/names.h"
#include "tra/tasks/kinds.h"
#include "tra/tasks/task.h"

namespace tra {
namespace {

constexpr bool kIid = false, kOod = true;

// Returns splits for training on up to 50 symbols, and for the paper's three buckets of longer strings.
std::vector<Split> StringSplits(int64_t shortest) {
  return {
      {"train", 0, {shortest, 50}, 4'000'000},  //
      {"iid", 1, {shortest, 50}, 2'000},       {"51-100", 2, {51, 100}, 2'000, kOod},
      {"101-200", 3, {101, 200}, 2'000, kOod}, {"201-300", 4, {201, 300}, 2'000, kOod},
  };
}

}  // namespace

const std::vector<Task>& Tasks() {
  static const std::vector<Task> kTasks = {
      // These are the sizes and probabilities of the public dataset.
      {"flipflop",
       1,
       "the bit last written, among others to be ignored",
       FlipflopKind(),
       2,
       {{"train", 0, {256, 256}, 1'600'000, kIid, 0.8},
        {"iid", 1, {256, 256}, 16'000, kIid, 0.8},
        {"sparse", 2, {256, 256}, 160'000, kOod, 0.98},
        {"dense", 3, {256, 256}, 4'000, kOod, 0.1}}},
      {"induct", 2, "a string of different symbols, copied: the symbol before tells the next", InductKind(), 300,
       StringSplits(1)},
      {"induct-query", 3, "the successor of one symbol of a string of different symbols", InductQueryKind(), 300,
       StringSplits(2)},
      {"copy", 4, "a string of few symbols, copied: it takes history to tell the next", CopyKind(), 10,
       StringSplits(1)},
      {"flipflop++",
       5,
       "the letter before or after the first or last trigger, as instructed",
       FlipflopPlusKind(),
       26,
       {{"train", 0, {3, 50}, 4'000'000},
        {"iid", 1, {3, 50}, 4'000},
        {"51-500", 2, {51, 500}, 4'000, kOod},
        {"51-100", 3, {51, 100}, 4'000, kOod},
        {"101-200", 4, {101, 200}, 4'000, kOod},
        {"201-500", 5, {201, 500}, 4'000, kOod}}},
  };
  return kTasks;
}

std::string RangeText(const Range& range) {
  std::string text = std::to_string(range.low);
  if (range.high != range.low) text += "-" + std::to_string(range.high);
  return text;
}

const Task& FindTask(std::string_view name) { return FindNamed("task", name, Tasks()); }

const Split& FindSplit(const Task& task, std::string_view name) {
  return FindNamed("split of " + std::string(task.name), name, task.splits);
}

}  // namespace tra
