// tra list: what there is to choose from.
#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/tasks/task.h"

namespace tra::cli {
namespace {

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string About(const Split& split) {
  std::string about = std::to_string(split.lengths.low);
  if (split.lengths.high != split.lengths.low) about += ".." + std::to_string(split.lengths.high);
  if (split.ignore > 0) about += ", P(i) " + nlohmann::json(split.ignore).dump();
  return about + (split.ood ? " (unlike training)" : "");
}

void PrintTasks(Output& out) {
  out.Line("Tasks, with their splits and lengths:");
  for (const Task& task : Tasks()) {
    out.Line("  " + Padded(task.name, 14) + task.summary);
    out.Line("  " + Padded("", 14) + "answers: " + task.kind.supervision + "; lengths are of " + task.kind.length_of);
    for (const Split& split : task.splits) out.Line("      " + Padded(split.name, 10) + About(split));
  }
}

nlohmann::ordered_json TasksJson() {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const Task& task : Tasks()) {
    nlohmann::ordered_json row = {{"name", task.name},
                                  {"summary", task.summary},
                                  {"supervision", task.kind.supervision},
                                  {"symbols", task.symbols},
                                  {"vocabulary", task.kind.names(task.symbols).size()},
                                  {"groups", task.kind.groups}};
    for (const Split& split : task.splits) {
      row["splits"].push_back({{"name", split.name},
                               {"lengths", {split.lengths.low, split.lengths.high}},
                               {"examples", split.examples},
                               {"ood", split.ood}});
    }
    tasks.push_back(row);
  }
  return tasks;
}

}  // namespace

void AddList(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "The tasks and their splits");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "for programs");
  command->footer("Example: tra list");
  command->callback([json] {
    Output out("");
    if (*json) {
      out.Line(nlohmann::ordered_json{{"tasks", TasksJson()}}.dump(2));
    } else {
      PrintTasks(out);
    }
    out.Finish();
  });
}

}  // namespace tra::cli
