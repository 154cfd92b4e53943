#include "tra/tasks/generated.h"

#include <stdexcept>
#include <utility>

namespace tra {
namespace {

void CheckRecipe(const Task& task, const Recipe& recipe) {
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(std::string(task.name) + ": " + what);
  };
  require(task.kind.symbols.Has(recipe.symbols),
          "symbols must be " + RangeText(task.kind.symbols) + ", got " + std::to_string(recipe.symbols));
  const Range possible = task.kind.lengths(recipe.symbols);
  require(recipe.lengths.low <= recipe.lengths.high && possible.Has(recipe.lengths.low) &&
              possible.Has(recipe.lengths.high),
          "lengths (" + std::string(task.kind.length_of) + ") must be within " + RangeText(possible) + ", got " +
              RangeText(recipe.lengths));
}

void Append(const Example& more, Example& to) {
  to.tokens.insert(to.tokens.end(), more.tokens.begin(), more.tokens.end());
  to.supervised.insert(to.supervised.end(), more.supervised.begin(), more.supervised.end());
}

}  // namespace

GeneratedExamples::GeneratedExamples(const std::string& task, const std::string& split, uint64_t seed,
                                     const TaskOptions& options)
    : task_(&FindTask(task)), split_(&FindSplit(*task_, split)), seed_(seed), options_(options) {
  recipe_ = {options.lengths.value_or(split_->lengths), options.symbols.value_or(task_->symbols), split_->ignore};
  CheckRecipe(*task_, recipe_);
  for (const auto& [name, value] : {std::pair{"pack", options.pack}, {"offset", options.offset}}) {
    if (value < 0 || value > kLongest) {
      throw std::invalid_argument(std::string(name) + " must be 0 (off) to " + std::to_string(kLongest) + ", got " +
                                  std::to_string(value));
    }
  }
  names_ = task_->kind.names(recipe_.symbols);
}

Example GeneratedExamples::At(uint64_t index) const {
  Random random(seed_, task_->StreamWord(*split_), index);
  Example example = task_->kind.make(recipe_, random);
  while (options_.pack > 0) {
    const Example next = task_->kind.make(recipe_, random);
    if (example.tokens.size() + next.tokens.size() > static_cast<size_t>(options_.pack)) break;
    Append(next, example);
  }
  if (options_.offset > 0) {
    const auto pads = static_cast<size_t>(random.Between(0, options_.offset));
    example.tokens.insert(example.tokens.begin(), pads, kPad);
    example.supervised.insert(example.supervised.begin(), pads, 0);
  }
  return example;
}

}  // namespace tra
