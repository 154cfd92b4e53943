// Writes examples as text that says what it is. There are two formats:
//
//   JSONL  a head {"format": "tra-examples", "task", "supervision", "names": [of tokens, by id], and the origin}, then
//          one object per example {"index", "text", "tokens": [ids], "supervised": [positions of the answers]}, and
//          "group" where a task has groups
//   text   a head of lines that begin with # and say the same, then one line per example with its text
//
// These functions put no newline at the end of what they return.
#ifndef TRA_TASKS_EXPORT_H_
#define TRA_TASKS_EXPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tra/tasks/example.h"
#include "tra/tasks/generated.h"

namespace tra {

// Returns the names of the symbols, one after the other.
std::string ExampleText(const Example& example, const std::string& separator, const std::vector<std::string>& names);
std::string ExampleText(const Example& example, const Task& task, const std::vector<std::string>& names);

// Returns where examples come from, as fields for a head.
nlohmann::ordered_json Origin(const GeneratedExamples& examples, uint64_t first, uint64_t count);

std::string JsonlHead(const Task& task, const std::vector<std::string>& names, const nlohmann::ordered_json& origin);
std::string JsonlLine(const Example& example, uint64_t index, const Task& task, const std::vector<std::string>& names);
// Does the same for examples of no task in the table; an empty group stands for none.
std::string JsonlLine(const Example& example, uint64_t index, const std::string& separator, const std::string& group,
                      const std::vector<std::string>& names);

std::string TextHead(const Task& task, const std::vector<std::string>& names, const nlohmann::ordered_json& origin);
std::string TextLine(const Example& example, uint64_t index, const Task& task, const std::vector<std::string>& names);

// Holds a format's name and functions; kExportFormats lists all formats.
struct ExportFormat {
  const char* name;
  std::string (*head)(const Task& task, const std::vector<std::string>& names, const nlohmann::ordered_json& origin);
  std::string (*line)(const Example& example, uint64_t index, const Task& task, const std::vector<std::string>& names);
};
constexpr ExportFormat kExportFormats[] = {{"jsonl", &JsonlHead, &JsonlLine}, {"text", &TextHead, &TextLine}};

}  // namespace tra

#endif  // TRA_TASKS_EXPORT_H_
