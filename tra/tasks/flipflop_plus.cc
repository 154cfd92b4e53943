// Makes examples of Flip-Flop++: an instruction, a string of letters in which the trigger `a` occurs a few times, and
// the letter that the instruction asks for, which is the one before or after the first or the last trigger.
#include <algorithm>
#include <string>
#include <vector>

#include "tra/tasks/kinds.h"

namespace tra {
namespace {

enum Symbol : int32_t { kBeforeFirst = 1, kAfterFirst = 2, kBeforeLast = 3, kAfterLast = 4, kTrigger = 5 };

// The same for strings of all lengths: at test lengths only the length is new, not the number of triggers.
constexpr int64_t kMostTriggers = 5;

bool OfFirst(int32_t instruction) { return instruction == kBeforeFirst || instruction == kAfterFirst; }
bool Before(int32_t instruction) { return instruction == kBeforeFirst || instruction == kBeforeLast; }

// Draws the places of `count` triggers, no two of them adjacent, in ascending order. All choices are equally likely:
// removing the letter after each trigger but the last maps the choices of non-adjacent places among `slots` one to one
// to the choices of any places among slots - count + 1, which are drawn here.
std::vector<int64_t> DrawPlaces(int64_t count, int64_t slots, Random& random) {
  std::vector<int64_t> places;
  const int64_t free = slots - count + 1;
  for (int64_t last = free - count; last < free; ++last) {  // Floyd's sampling without replacement
    const int64_t place = random.Between(0, last);
    const bool taken = std::find(places.begin(), places.end(), place) != places.end();
    places.push_back(taken ? last : place);
  }
  std::sort(places.begin(), places.end());
  for (int64_t i = 0; i < count; ++i) places[static_cast<size_t>(i)] += i + 1;  // + 1: no trigger at the start
  return places;
}

Range Lengths(int64_t /*symbols*/) { return {3, kLongest}; }  // a trigger and a letter on either side

std::vector<std::string> Names(int64_t symbols) {
  std::vector<std::string> names = {"_", "before-first", "after-first", "before-last", "after-last"};
  for (int64_t i = 0; i < symbols; ++i) names.emplace_back(1, static_cast<char>('a' + i));
  return names;
}

// Makes an example. No two triggers are adjacent, none is at the start or at the end; all such placements are equally
// likely.
Example Make(const Recipe& recipe, Random& random) {
  const int64_t length = random.Between(recipe.lengths.low, recipe.lengths.high);
  const int32_t instruction = kBeforeFirst + static_cast<int32_t>(random.Below(4));
  const int64_t slots = length - 2;
  const int64_t count = random.Between(1, std::min(kMostTriggers, (slots + 1) / 2));
  const std::vector<int64_t> places = DrawPlaces(count, slots, random);

  Example example;
  example.group = instruction - kBeforeFirst;
  example.Add(instruction);
  for (int64_t at = 0; at < length; ++at) {
    example.Add(kTrigger + 1 + static_cast<int32_t>(random.Below(static_cast<uint32_t>(recipe.symbols - 1))));
  }
  for (const int64_t place : places) example.tokens[static_cast<size_t>(place) + 1] = kTrigger;
  const int64_t trigger = OfFirst(instruction) ? places.front() : places.back();
  const int64_t answer = Before(instruction) ? trigger - 1 : trigger + 1;
  example.Add(example.tokens[static_cast<size_t>(answer) + 1], true);
  return example;
}

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& names) {
  const int32_t instruction = example.tokens[0];
  std::vector<size_t> triggers;
  for (size_t at = 1; at + 1 < example.tokens.size(); ++at) {
    if (example.tokens[at] == kTrigger) triggers.push_back(at);
  }
  std::string places;
  for (const size_t at : triggers) places += (places.empty() ? "" : ", ") + std::to_string(at);
  const size_t trigger = OfFirst(instruction) ? triggers.front() : triggers.back();
  const size_t answer = Before(instruction) ? trigger - 1 : trigger + 1;
  return {"the trigger '" + names[kTrigger] + "' stands at " + places,
          names[static_cast<size_t>(instruction)] + ": the letter at " + std::to_string(answer) + " is '" +
              names[static_cast<size_t>(example.tokens[answer])] + "', " +
              std::to_string(example.tokens.size() - 1 - answer) + " symbols before the answer"};
}

}  // namespace

Kind FlipflopPlusKind() {
  return {"the last symbol",
          "letters of the string",
          {2, 26},
          &Lengths,
          &Names,
          " ",
          &Make,
          &Explain,
          {"before-first", "after-first", "before-last", "after-last"}};
}

}  // namespace tra
