// Reads examples of one's own: a folder that has a file per split, in the JSONL form of export.h.
#ifndef TRA_TASKS_EXAMPLE_FOLDER_H_
#define TRA_TASKS_EXAMPLE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/example.h"

namespace tra {

// Gives the examples of a file, in its order.
class FileExamples : public ExampleSource {
 public:
  Example At(uint64_t index) const override;  // throws std::out_of_range
  std::optional<uint64_t> Size() const override { return lines_.size(); }

  int64_t Longest() const;                                         // tokens of the longest example
  int64_t Line(uint64_t index) const { return lines_.at(index); }  // where in the file it stands, from 1
  void Add(const Example& example, int64_t line);

 private:
  std::vector<int64_t> lines_;
  std::vector<size_t> starts_ = {0};  // of each example in the next two, and last where all end
  std::vector<int32_t> tokens_;
  std::vector<uint8_t> supervised_;
  std::vector<int32_t> groups_;
};

// Repeats the examples of a file without end, each time in another order. Which example has a number is a function of
// the seed and the number.
class ShuffledExamples : public ExampleSource {
 public:
  ShuffledExamples(std::shared_ptr<const FileExamples> examples, uint64_t seed)
      : examples_(std::move(examples)), seed_(seed) {}
  Example At(uint64_t index) const override;

 private:
  std::shared_ptr<const FileExamples> examples_;
  uint64_t seed_;
};

// Returns the path of the file with the examples of a split.
std::string ExampleFile(const std::string& folder, const std::string& split);

class ExampleFolder {
 public:
  // Reads FOLDER/train.jsonl and all other .jsonl files, each of which is a split that is called like the file. A
  // vocabulary of 0 is that of train.jsonl: the tokens that its head names, else those up to the largest id. Throws
  // std::runtime_error with the file, the line, what is wrong there and what would be right.
  explicit ExampleFolder(const std::string& path, int64_t vocabulary = 0);

  const std::vector<std::string>& splits() const { return splits_; }  // train first, then by name
  const std::vector<std::string>& names() const { return names_; }    // of all tokens, by id
  const std::vector<std::string>& groups() const { return groups_; }  // in the order in which they occur
  // Throws std::invalid_argument for an unknown split, with those that there are.
  const std::shared_ptr<const FileExamples>& Split(const std::string& name) const;

 private:
  std::vector<std::string> splits_, names_, groups_;
  std::vector<std::shared_ptr<const FileExamples>> files_;  // by split
};

// Returns the names of `vocabulary` tokens as far as the head of FOLDER/train.jsonl has them; the others are called by
// their ids. Reads nothing else.
std::vector<std::string> ReadTokenNames(const std::string& folder, int64_t vocabulary);

}  // namespace tra

#endif  // TRA_TASKS_EXAMPLE_FOLDER_H_
