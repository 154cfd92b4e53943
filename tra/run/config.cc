#include "tra/run/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "tra/base/input_file.h"
#include "tra/base/names.h"
#include "tra/model/attention/variants.h"
#include "tra/run/parse_toml.h"
#include "tra/run/toml_text.h"

namespace tra {
namespace {

// Maps "train.lr" to its value as TOML text.
using Values = std::map<std::string, std::string>;

void Flatten(const toml::table& table, const std::string& prefix, Values& values) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      Flatten(*inner, name + ".", values);
    } else {
      values[name] = TomlText(node);
    }
  }
}

// Applies an override such as "train.lr=1e-3". A value that is not TOML is taken as a string without quotes.
void Override(const std::string& text, Values& values) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw std::invalid_argument("--set needs key=value, such as train.lr=1e-3, got '" + text + "'");
  }
  const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
  try {
    const toml::table parsed = ParseToml("x = " + value, key);
    if (parsed.size() == 1) {  // more is a value with a line break in it, and other keys behind that
      values[key] = TomlText(*parsed.get("x"));
      return;
    }
  } catch (const std::invalid_argument&) {  // then it is no TOML
  }
  values[key] = TomlText(value);
}

// Sets a key. A value that does not fit is tried again as a string, since strings may look like something else: a label
// of 7, a qk_norm of true.
void SetValue(const ConfigKey& key, const std::string& value) {
  try {
    key.set(value);
  } catch (const std::invalid_argument&) {
    if (value.front() == '"' || value.front() == '[' || value.front() == '{') throw;
    try {
      key.set(TomlText(value));
      return;
    } catch (const std::invalid_argument&) {  // the first error says it better
    }
    throw;
  }
}

}  // namespace

RunConfig ParseConfig(const std::string& toml, const std::vector<std::string>& overrides, const std::string& name) {
  Values values;
  Flatten(ParseToml(toml, name), "", values);
  constexpr char kPreset[] = "model.preset";
  for (const std::string& each : overrides) {
    if (each.rfind(std::string(kPreset) + "=", 0) != 0) continue;
    // A preset brings its own sizes in place of those of the file; other overrides stay.
    for (const char* size : {"model.layers", "model.heads", "model.width"}) values.erase(size);
  }
  for (const std::string& each : overrides) Override(each, values);

  RunConfig config;
  std::map<std::string, ConfigKey> keys;
  std::vector<std::string> known;
  for (ConfigKey& key : ConfigKeys(config)) {
    known.push_back(key.name);
    keys.emplace(key.name, std::move(key));
  }
  const auto set = [&](const std::string& key, const std::string& value) {
    const auto found = keys.find(key);
    try {
      if (found == keys.end()) throw std::invalid_argument(UnknownName("key", key, known, "tra list --keys"));
      SetValue(found->second, value);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(name + ": " + error.what());
    }
  };
  if (values.count(kPreset) > 0) {
    set(kPreset, values[kPreset]);
    for (const ModelSize& size : kModelSizes) {
      if (config.preset != size.name) continue;
      config.model.layers = size.layers;
      config.model.heads = size.heads;
      config.model.width = size.width;
    }
  }
  for (const auto& [key, value] : values) set(key, value);
  return config;
}

RunConfig ReadConfig(const std::string& path, const std::vector<std::string>& overrides) {
  if (std::filesystem::is_directory(path)) {
    throw std::invalid_argument(path + ": is a folder; name a configuration file in it, or a run's folder");
  }
  std::string text;
  try {
    text = ReadFile(path, kMostTomlBytes);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(std::string(error.what()) + " (configs/ has configurations to start from)");
  }
  return ParseConfig(text, overrides, path);
}

int64_t StepsOfSchedule(const TrainConfig& config, int64_t step) {
  for (const std::vector<int64_t>& change : config.extended) {
    if (step < change[0]) return change[1];
  }
  return config.steps;
}

std::string ConfigToml(const RunConfig& config) {
  RunConfig copy = config;
  std::string text, section;
  for (const ConfigKey& key : ConfigKeys(copy)) {
    const size_t dot = key.name.find('.');
    const std::string in = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (in != section) text += "\n[" + in + "]\n";
    section = in;
    const std::string line = key.name.substr(dot == std::string::npos ? 0 : dot + 1) + " = " + key.get();
    text += line + (key.doc.empty() ? "" : std::string(line.size() < 32 ? 32 - line.size() : 1, ' ') + "# " + key.doc);
    text += "\n";
  }
  return text;
}

ModelConfig MakeModelConfig(const RunConfig& config, int64_t vocabulary, int64_t train_length, int64_t longest) {
  ModelConfig model = config.model;
  model.vocabulary = vocabulary;
  if (model.train_length == 0) model.train_length = train_length;
  if (model.max_length == 0) {
    model.max_length = std::max(train_length, longest);
    // With only as many labels as positions, every position would get its index as its label, as in ape.
    if (FindVariant(model.attention).positions == Positions::kLabel) model.max_length *= 2;
  }
  return model;
}

}  // namespace tra
