// Makes examples of Flip-Flop++: an instruction, a string of letters in which the trigger `a` occurs a few times, and
// the letter that the instruction asks for, which is the one before or after the first or the last trigger.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/kinds.h"

namespace tra {
namespace {

enum Symbol : int32_t { kBeforeFirst = 1, kAfterFirst = 2, kBeforeLast = 3, kAfterLast = 4, kTrigger = 5 };

// The same for strings of all lengths: at test lengths only the length is new, not the number of triggers.
constexpr int64_t kMostTriggers = 5;

// Names the letter that an instruction asks for, by positions.
struct Asked {
  size_t trigger, letter;
};

Asked FindAsked(int32_t instruction, size_t first_trigger, size_t last_trigger) {
  const bool first = instruction == kBeforeFirst || instruction == kAfterFirst;
  const bool before = instruction == kBeforeFirst || instruction == kBeforeLast;
  const size_t trigger = first ? first_trigger : last_trigger;
  return {trigger, before ? trigger - 1 : trigger + 1};
}

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

int32_t DrawLetter(int64_t symbols, Random& random) {  // anything but the trigger
  return kTrigger + 1 + static_cast<int32_t>(random.Below(static_cast<uint32_t>(symbols - 1)));
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
    example.Add(DrawLetter(recipe.symbols, random));
  }
  for (const int64_t place : places) example.tokens[static_cast<size_t>(place) + 1] = kTrigger;
  const Asked asked =
      FindAsked(instruction, static_cast<size_t>(places.front()) + 1, static_cast<size_t>(places.back()) + 1);
  example.Add(example.tokens[asked.letter], true);
  return example;
}

bool IsInstruction(int32_t token) { return token >= kBeforeFirst && token <= kAfterLast; }

// The trigger marks the letter. If the letter comes before its trigger, it cannot know that it is the one, so the
// trigger is what to look at.
std::vector<Evidence> FindEvidence(const Example& example) {
  std::vector<Evidence> all;
  size_t instruction = 0, first = 0, last = 0;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (IsInstruction(example.tokens[at])) {
      instruction = at;
      first = last = 0;
    }
    if (example.tokens[at] == kTrigger) {
      last = at;
      if (first == 0) first = at;
    }
    if (example.supervised[at] == 0) continue;
    const Asked asked = FindAsked(example.tokens[instruction], first, last);
    const auto [earlier, later] = std::minmax(asked.trigger, asked.letter);
    all.push_back({at - 1, {later}, {{later, earlier}}});
  }
  return all;
}

// Inserts letters that are not the trigger anywhere in the string but between the letter asked for and its trigger.
std::optional<Stretched> Stretch(const Example& example, int64_t factor, int64_t symbols, Random& random) {
  std::vector<size_t> gaps;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (example.tokens[at] >= kTrigger && example.supervised[at] == 0) gaps.push_back(at);
  }
  const size_t count = static_cast<size_t>(factor - 1) * gaps.size();
  for (const Evidence& each : FindEvidence(example)) {
    gaps.erase(std::find(gaps.begin(), gaps.end(), each.keys[0]));
  }
  const auto draw = [&] { return std::vector<int32_t>{DrawLetter(symbols, random)}; };
  return InsertPieces(example, gaps, count, draw, random);
}

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& names) {
  const int32_t instruction = example.tokens[0];
  std::vector<size_t> triggers;
  for (size_t at = 1; at + 1 < example.tokens.size(); ++at) {
    if (example.tokens[at] == kTrigger) triggers.push_back(at);
  }
  std::string places;
  for (const size_t at : triggers) places += (places.empty() ? "" : ", ") + std::to_string(at);
  const size_t answer = FindAsked(instruction, triggers.front(), triggers.back()).letter;
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
          &FindEvidence,
          &Stretch,
          {"before-first", "after-first", "before-last", "after-last"}};
}

}  // namespace tra
