// Examples as text that says what it is.
//
//   JSONL  an object {"format": "tra-examples", "task", "supervision", "names": [of tokens, by id], and the origin},
//   then
//          an object each {"index", "text", "tokens": [ids], "supervised": [positions of the answers]}, and "group"
//          where a task has groups
//   text   lines that begin with # and say the same, then the text of an example a line
//
// No line here ends with a newline, but for those inside a head of text.
#ifndef TRA_TASKS_EXPORT_H_
#define TRA_TASKS_EXPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tra/tasks/example.h"
#include "tra/tasks/generated.h"

namespace tra {

// The symbols' names, one after the other.
std::string ExampleText(const Example& example, const Task& task, const std::vector<std::string>& names);

// Where examples come from, as fields of a head.
nlohmann::ordered_json Origin(const GeneratedExamples& examples, uint64_t first, uint64_t count);

std::string JsonlHead(const Task& task, const std::vector<std::string>& names, const nlohmann::ordered_json& origin);
std::string JsonlLine(const Example& example, uint64_t index, const Task& task, const std::vector<std::string>& names);

std::string TextHead(const Task& task, const std::vector<std::string>& names, const nlohmann::ordered_json& origin);

}  // namespace tra

#endif  // TRA_TASKS_EXPORT_H_
