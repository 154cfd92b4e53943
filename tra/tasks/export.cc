#include "tra/tasks/export.h"

#include <utility>

namespace tra {

using nlohmann::ordered_json;

std::string ExampleText(const Example& example, const std::string& separator, const std::vector<std::string>& names) {
  std::string text;
  for (const int32_t token : example.tokens) {
    if (!text.empty()) text += separator;
    text += names[static_cast<size_t>(token)];
  }
  return text;
}

std::string ExampleText(const Example& example, const Task& task, const std::vector<std::string>& names) {
  return ExampleText(example, task.kind.separator, names);
}

ordered_json Origin(const GeneratedExamples& examples, uint64_t first, uint64_t count) {
  const Recipe& recipe = examples.recipe();
  ordered_json origin = {{"split", examples.split().name},
                         {"seed", examples.seed()},
                         {"first", first},
                         {"count", count},
                         {"symbols", recipe.symbols},
                         {"lengths", {recipe.lengths.low, recipe.lengths.high}}};
  if (examples.options().pack > 0) origin["pack"] = examples.options().pack;
  if (examples.options().offset > 0) origin["offset"] = examples.options().offset;
  return origin;
}

std::string JsonlHead(const Task& task, const std::vector<std::string>& names, const ordered_json& origin) {
  ordered_json head = {{"format", "tra-examples"}, {"task", task.name}};
  head.update(origin);
  head["supervision"] = task.kind.supervision;
  head["names"] = names;
  return head.dump();
}

std::string JsonlLine(const Example& example, uint64_t index, const Task& task, const std::vector<std::string>& names) {
  const auto& groups = task.kind.groups;
  return JsonlLine(example, index, task.kind.separator,
                   groups.empty() ? "" : groups[static_cast<size_t>(example.group)], names);
}

std::string JsonlLine(const Example& example, uint64_t index, const std::string& separator, const std::string& group,
                      const std::vector<std::string>& names) {
  std::vector<size_t> supervised;
  for (size_t at = 0; at < example.supervised.size(); ++at) {
    if (example.supervised[at] != 0) supervised.push_back(at);
  }
  ordered_json line = {{"index", index}, {"text", ExampleText(example, separator, names)}, {"tokens", example.tokens}};
  line["supervised"] = supervised;
  if (!group.empty()) line["group"] = group;
  return line.dump();
}

std::string TextHead(const Task& task, const std::vector<std::string>& names, const ordered_json& origin) {
  std::string head = "# tra-examples: " + std::string(task.name) + ", " + task.summary;
  for (const auto& [field, value] : origin.items()) head += "\n# " + field + ": " + value.dump();
  head += "\n# answers: " + std::string(task.kind.supervision) + "\n# tokens, from id 0:";
  for (const std::string& name : names) head += " " + name;
  return head;
}

std::string TextLine(const Example& example, uint64_t /*index*/, const Task& task,
                     const std::vector<std::string>& names) {
  return ExampleText(example, task, names);
}

}  // namespace tra
