#include "tra/cli/command_info.h"

#include <algorithm>
#include <set>

#include "tra/base/names.h"
#include "tra/run/config.h"
#include "tra/tasks/task.h"
#include "tra/text/corpus.h"
#include "tra/text/tokenizers.h"

namespace tra::cli {
namespace {

std::vector<std::string> TaskNames() {
  std::vector<std::string> names = NamesIn(Tasks());
  names.emplace_back("jsonl");
  return names;
}

// Returns the splits of all tasks and texts: which of them there are depends on what else is chosen.
std::vector<std::string> SplitNames() {
  std::vector<std::string> names = CorpusSplits();
  for (const Task& task : Tasks()) {
    for (const Split& split : task.splits) {
      if (std::find(names.begin(), names.end(), split.name) == names.end()) names.emplace_back(split.name);
    }
  }
  return names;
}

// Returns "train.lr=" for every key, and "model.attention=tra" where a key has values that are known.
std::vector<std::string> Settings() {
  std::vector<std::string> settings;
  RunConfig config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    if (key.choices.empty()) settings.push_back(key.name + "=");
    for (const std::string& choice : key.choices) settings.push_back(key.name + "=" + choice);
  }
  return settings;
}

// Lists what options may be that commands check themselves, with an error that suggests the nearest value.
struct KnownValues {
  const char* name;
  std::vector<std::string> (*values)();
};
constexpr KnownValues kKnownValues[] = {
    {"task", &TaskNames},
    {"--split", &SplitNames},
    {"--set", &Settings},
    {"--tokenizer", [] { return NamesIn(TokenizerKinds()); }},
    {"--device",
     [] {
       return std::vector<std::string>{"cpu", "cuda"};
     }},
};

// Names the options whose text is not the path of a file or a folder.
constexpr const char* kNoPaths[] = {"--lengths", "--ids",   "--prompt", "--text",   "--queries", "--keys",
                                    "--head",    "--table", "--title",  "--metric", "--time"};

// Returns the values in a type such as "TEXT:{auto,always,never}", as CLI11 writes it where values are checked.
std::vector<std::string> CheckedValues(const std::string& type) {
  const size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  for (size_t at = begin + 1; at < end;) {
    const size_t comma = std::min(type.find(',', at), end);
    values.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return values;
}

OptionInfo Describe(const CLI::Option& option) {
  OptionInfo info;
  info.positional = option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
  if (info.positional) info.names = {option.get_name(true)};
  for (const std::string& each : option.get_snames()) info.names.push_back("-" + each);
  for (const std::string& each : option.get_lnames()) info.names.push_back("--" + each);
  info.description = option.get_description();
  info.required = option.get_required();
  info.repeats = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return info;  // a flag
  info.default_value = option.get_default_str();
  const std::string type = option.get_type_name();
  info.values = CheckedValues(type);
  const auto named = [&](const char* name) {
    return std::find(info.names.begin(), info.names.end(), name) != info.names.end();
  };
  for (const KnownValues& known : kKnownValues) {
    if (info.values.empty() && named(known.name)) info.values = known.values();
  }
  const bool text = type.rfind("TEXT", 0) == 0;
  info.kind = !info.values.empty()                                                    ? ValueKind::kListed
              : text && std::none_of(std::begin(kNoPaths), std::end(kNoPaths), named) ? ValueKind::kPath
                                                                                      : ValueKind::kOther;
  return info;
}

CommandInfo Describe(const CLI::App& command, const std::string& before) {
  CommandInfo info;
  info.name = before + command.get_name();
  info.description = command.get_description();
  info.footer = command.get_footer();
  for (const CLI::Option* option : command.get_options()) info.options.push_back(Describe(*option));
  for (const CLI::App* each : command.get_subcommands({})) info.commands.push_back(Describe(*each, info.name + " "));
  return info;
}

}  // namespace

CommandInfo DescribeCommands(const CLI::App& app) { return Describe(app, ""); }

std::vector<const CommandInfo*> AllCommands(const CommandInfo& command) {
  std::vector<const CommandInfo*> all = {&command};
  for (const CommandInfo& each : command.commands) {
    for (const CommandInfo* below : AllCommands(each)) all.push_back(below);
  }
  return all;
}

}  // namespace tra::cli
