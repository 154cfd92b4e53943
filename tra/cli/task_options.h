// Adds the options by which commands choose examples.
#ifndef TRA_CLI_TASK_OPTIONS_H_
#define TRA_CLI_TASK_OPTIONS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "tra/tasks/generated.h"

namespace tra::cli {

struct TaskChoice {
  std::string task, split;  // without a split, iid
  uint64_t seed = 0;
  std::string lengths;  // "51-100" or "300"
  TaskOptions options;

  // Makes the chosen examples. Throws std::invalid_argument for a bad choice.
  GeneratedExamples Examples() const;
};

// Parses "51-100", also written "51..100", or "300". Throws std::invalid_argument for anything else.
Range ParseLengths(const std::string& text);

void AddTaskOptions(CLI::App& command, TaskChoice& choice);

}  // namespace tra::cli

#endif  // TRA_CLI_TASK_OPTIONS_H_
