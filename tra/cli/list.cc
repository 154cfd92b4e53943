// tra list: prints what there is to choose from.
#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/model/attention/variants.h"
#include "tra/run/config.h"
#include "tra/tasks/task.h"
#include "tra/text/tokenizers.h"

namespace tra::cli {
namespace {

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string About(const Split& split) {
  std::string about = RangeText(split.lengths);
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
  out.Line("  " + Padded("jsonl", 14) +
           "examples of one's own: a folder with train.jsonl and a file per split (data.folder)");
  out.Line("  " + Padded("text", 14) + "language modelling on a folder of texts, or on one text (data.corpus)");
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

void PrintAttentions(Output& out) {
  out.Line("Attentions (model.attention):");
  for (const Variant& each : Variants()) out.Line("  " + Padded(each.name, 14) + each.summary);
  out.Line("Presets (model.preset):");
  for (const ModelSize& each : kModelSizes) {
    out.Line("  " + Padded(each.name, 14) + std::to_string(each.layers) + " layers, " + std::to_string(each.heads) +
             " heads, width " + std::to_string(each.width));
  }
  out.Line("Tokenizers (data.tokenizer):");
  for (const TokenizerKind& each : TokenizerKinds()) out.Line("  " + Padded(each.name, 14) + each.summary);
}

void PrintKeys(Output& out) {
  RunConfig config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    out.Line(key.name + " = " + key.get());
    out.Line("    " + key.range + (key.doc.empty() ? "" : ": " + key.doc));
  }
}

nlohmann::ordered_json KeysJson() {
  RunConfig config;
  nlohmann::ordered_json keys = nlohmann::ordered_json::array();
  for (const ConfigKey& key : ConfigKeys(config)) {
    keys.push_back({{"name", key.name}, {"default", key.get()}, {"range", key.range}, {"doc", key.doc}});
  }
  return keys;
}

nlohmann::ordered_json AttentionsJson() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Variant& each : Variants()) rows.push_back({{"name", each.name}, {"summary", each.summary}});
  return rows;
}

}  // namespace

void AddList(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List tasks, attentions, presets, and the keys of a configuration");
  auto json = std::make_shared<bool>(false), keys = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON, for programs");
  command->add_flag("--keys", *keys, "list every key of a configuration, with its default, range and meaning");
  command->footer("Example: tra list --keys");
  command->callback([json, keys] {
    Output out("");
    if (*json) {
      nlohmann::ordered_json all = {{"tasks", TasksJson()}, {"attentions", AttentionsJson()}, {"keys", KeysJson()}};
      out.Line(all.dump(2));
    } else if (*keys) {
      PrintKeys(out);
    } else {
      PrintTasks(out);
      PrintAttentions(out);
    }
    out.Finish();
  });
}

}  // namespace tra::cli
