#include "tra/run/sweep.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tra/base/names.h"
#include "tra/base/text.h"
#include "tra/run/config.h"
#include "tra/run/parse_toml.h"
#include "tra/run/toml_text.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

constexpr char kOverrides[] = "strings such as \"train.steps=2000\"";

// Holds one of the ways in which runs differ besides attention and seed.
struct Setting {
  std::string name;  // empty if there is only one
  std::vector<std::string> overrides;
};

// Turns "no dropout, heads=4" into "no-dropout-heads=4", for the name of a folder.
std::string FolderName(const std::string& setting) {
  std::string name;
  for (const char c : setting) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._=+").find(c) != std::string_view::npos;
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

class SweepFile {
 public:
  explicit SweepFile(const std::string& path) : path_(path), table_(ParseTomlFile(path)) {
    const std::vector<std::string> known = {"configs", "attentions", "seeds",    "set",
                                            "folder",  "grid",       "variants", "for_attention"};
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) == known.end()) Fail(UnknownName("key", name, known));
    }
  }

  template <typename T>
  std::vector<T> List(const char* key, const char* what) const {
    const toml::node* node = table_.get(key);
    return node == nullptr ? std::vector<T>() : ListOf<T>(key, *node, what);
  }

  // Returns the changes to the runs of one attention, which must be one of `attentions`.
  std::vector<std::string> ForAttention(const std::string& attention,
                                        const std::vector<std::string>& attentions) const {
    const toml::table* section = Section("for_attention");
    if (section == nullptr) return {};
    for (const auto& [key, node] : *section) {
      if (std::find(attentions.begin(), attentions.end(), std::string(key.str())) == attentions.end()) {
        Fail("for_attention: " + UnknownName("attention", std::string(key.str()), attentions));
      }
    }
    const toml::node* node = section->get(attention);
    if (node == nullptr) return {};
    return ListOf<std::string>("for_attention: " + attention, *node, kOverrides);
  }

  // Returns all combinations of a variant with values of the grid; a single one without a name if the file has neither.
  std::vector<Setting> Settings() const {
    std::vector<Setting> settings = Variants();
    const toml::table* grid = Section("grid");
    if (grid == nullptr) return settings;
    for (const auto& [key, node] : *grid) {
      const std::string name(key.str());
      if (name == "train.seed") Fail("grid: seeds are listed under seeds, not as train.seed");
      if (name == "model.attention") Fail("grid: attentions are listed under attentions, not as model.attention");
      if (name == "label") Fail("grid: labels are made of the other keys");
      if (!node.is_array() || node.as_array()->empty()) {
        Fail("grid: " + name +
             (node.is_table() ? " must be in quotes: \"" + name + ".key\" = [...]" : " must be a list of values"));
      }
      std::vector<Setting> product;
      for (const Setting& before : settings) {
        for (const toml::node& value : *node.as_array()) {
          Setting setting = before;
          const std::string text = TomlText(value);
          const std::string shown = value.is_string() ? *value.value<std::string>() : text;
          const size_t dot = name.rfind('.');
          if (!setting.name.empty()) setting.name += ", ";
          setting.name.append(name, dot + 1).append("=").append(shown);
          setting.overrides.emplace_back(name).append("=").append(text);
          product.push_back(std::move(setting));
        }
      }
      settings = std::move(product);
    }
    return settings;
  }

  std::string Text(const char* key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr || !node->is_string()) Fail(std::string(key) + " must be a string");
    return *node->value<std::string>();
  }

  [[noreturn]] void Fail(const std::string& what) const { throw std::invalid_argument(path_ + ": " + what); }

 private:
  template <typename T>
  std::vector<T> ListOf(const std::string& key, const toml::node& node, const char* what) const {
    std::vector<T> values;
    if (!node.is_array()) Fail(key + " must be a list of " + what);
    for (const toml::node& each : *node.as_array()) {
      const auto value = each.value_exact<T>();
      if (!value) Fail(key + " must be a list of " + what);
      values.push_back(*value);
    }
    return values;
  }

  const toml::table* Section(const char* key) const {
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_table()) Fail(std::string(key) + " must be a table: [" + key + "]");
    return node == nullptr ? nullptr : node->as_table();
  }

  std::vector<Setting> Variants() const {
    const toml::table* variants = Section("variants");
    if (variants == nullptr || variants->empty()) return {Setting()};
    std::vector<Setting> settings;
    for (const auto& [key, node] : *variants) {
      const std::string name(key.str());
      settings.push_back({name, ListOf<std::string>("variants: " + name, node, kOverrides)});
    }
    return settings;
  }

  std::string path_;
  toml::table table_;
};

// Throws for a path that a line of #SBATCH cannot hold: such a line ends with the line, and sbatch takes quotes and
// backslashes out of it.
void RequireForSbatch(const std::string& path) {
  if (!HasControls(path) && path.find_first_of("\"\\") == std::string::npos) return;
  throw std::invalid_argument(
      WithoutControls(path) +
      ": has a line break, a double quote or a backslash in its name, which a script for sbatch "
      "cannot hold; rename it");
}

// Returns a path in which sbatch finds nothing to replace.
std::string WithoutPatterns(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

}  // namespace

Sweep ReadSweep(const std::string& path, const std::vector<std::string>& overrides) {
  const SweepFile file(path);
  const auto configs = file.List<std::string>("configs", "configuration files");
  const auto seeds = file.List<int64_t>("seeds", "integers");
  auto attentions = file.List<std::string>("attentions", "names (tra list)");
  if (configs.empty()) file.Fail("configs must name at least one configuration file");
  if (seeds.empty()) file.Fail("seeds must have at least one integer");
  if (attentions.empty()) attentions.emplace_back();

  Sweep sweep;
  sweep.file = path;
  sweep.folder = file.Text("folder");
  if (HasControls(sweep.folder)) file.Fail("folder must be a path without line breaks and other control characters");
  sweep.overrides = overrides;
  std::set<std::string> names;
  const std::vector<Setting> settings = file.Settings();
  for (const std::string& config : configs) {
    const std::string config_path = (fs::path(path).parent_path() / config).lexically_normal().string();
    for (const std::string& attention : attentions) {
      const std::vector<std::string> of_attention = file.ForAttention(attention, attentions);
      for (const Setting& setting : settings) {
        for (const int64_t seed : seeds) {
          SweepRun run;
          run.config = config_path;
          run.overrides = file.List<std::string>("set", kOverrides);
          run.overrides.insert(run.overrides.end(), of_attention.begin(), of_attention.end());
          run.overrides.insert(run.overrides.end(), setting.overrides.begin(), setting.overrides.end());
          if (!setting.name.empty()) run.overrides.push_back("label=" + setting.name);
          run.overrides.insert(run.overrides.end(), overrides.begin(), overrides.end());
          if (!attention.empty()) run.overrides.push_back("model.attention=" + attention);
          run.overrides.push_back("train.seed=" + std::to_string(seed));
          const RunConfig read = ReadConfig(config_path, run.overrides);
          run.name = fs::path(config).stem().string() + "-" + read.model.attention;
          if (!setting.name.empty()) run.name += "-" + FolderName(setting.name);
          run.name += "-s" + std::to_string(seed);
          run.folder = sweep.folder + "/" + run.name;
          if (!names.insert(run.name).second) file.Fail("two runs are called " + run.name + "; leave one out");
          sweep.runs.push_back(std::move(run));
        }
      }
    }
  }
  return sweep;
}

std::string SlurmScript(const Sweep& sweep, const std::string& program, const SlurmOptions& options) {
  if (options.time.empty() || options.time.find_first_not_of("0123456789:-") != std::string::npos) {
    throw std::invalid_argument("--time must be a time of Slurm's, such as 24:00:00 or 2-00:00:00, got '" +
                                options.time + "'");
  }
  RequireForSbatch(sweep.file);
  RequireForSbatch(sweep.folder);
  std::ostringstream out;
  out << "#!/bin/sh\n"
      << "# One run of " << sweep.file
      << " per index: sbatch THIS_FILE. Submit it again to continue with what is not done.\n"
      << "#SBATCH --job-name=\"tra-" << fs::path(sweep.file).stem().string() << "\"\n"
      << "#SBATCH --array=0-" << sweep.runs.size() - 1 << "\n"
      << "#SBATCH --cpus-per-task=" << options.cores << "\n"
      << (options.gpu ? "#SBATCH --gres=gpu:1\n" : "") << "#SBATCH --time=" << options.time << "\n"
      << "#SBATCH --output=\"" << WithoutPatterns(sweep.folder)
      << "/slurm-%A_%a.log\"\n"
      // Leaves two minutes to save before the time is up. B: signals the script itself, which the run replaces.
      << "#SBATCH --signal=B:TERM@120\n"
      << "exec " << ShellQuoted(program) << " sweep " << ShellQuoted(sweep.file)
      << " --index \"$SLURM_ARRAY_TASK_ID\" --threads \"$SLURM_CPUS_PER_TASK\"";
  if (options.gpu) out << " --device cuda";
  for (const std::string& each : sweep.overrides) out << " --set " << ShellQuoted(each);
  out << "\n";
  return out.str();
}

}  // namespace tra
