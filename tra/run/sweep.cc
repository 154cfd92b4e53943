#include "tra/run/sweep.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>

#include "tra/base/names.h"
#include "tra/run/config.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

class SweepFile {
 public:
  explicit SweepFile(const std::string& path) : path_(path) {
    try {
      table_ = toml::parse_file(path);
    } catch (const toml::parse_error& error) {
      const auto line = error.source().begin.line;
      throw std::invalid_argument(path + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                                  std::string(error.description()));
    }
    const std::vector<std::string> known = {"configs", "attentions", "seeds", "set", "folder"};
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) == known.end()) Fail(UnknownName("key", name, known));
    }
  }

  template <typename T>
  std::vector<T> List(const char* key, const char* what) const {
    std::vector<T> values;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return values;
    if (!node->is_array()) Fail(std::string(key) + " must be a list of " + what);
    for (const toml::node& each : *node->as_array()) {
      const auto value = each.value_exact<T>();
      if (!value) Fail(std::string(key) + " must be a list of " + what);
      values.push_back(*value);
    }
    return values;
  }

  std::string Text(const char* key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr || !node->is_string()) Fail(std::string(key) + " must be a string");
    return *node->value<std::string>();
  }

  [[noreturn]] void Fail(const std::string& what) const { throw std::invalid_argument(path_ + ": " + what); }

 private:
  std::string path_;
  toml::table table_;
};

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
  sweep.overrides = overrides;
  std::set<std::string> names;
  for (const std::string& config : configs) {
    const std::string config_path = (fs::path(path).parent_path() / config).lexically_normal().string();
    for (const std::string& attention : attentions) {
      for (const int64_t seed : seeds) {
        SweepRun run;
        run.config = config_path;
        run.overrides = file.List<std::string>("set", "strings such as \"train.steps=2000\"");
        run.overrides.insert(run.overrides.end(), overrides.begin(), overrides.end());
        if (!attention.empty()) run.overrides.push_back("model.attention=" + attention);
        run.overrides.push_back("train.seed=" + std::to_string(seed));
        const RunConfig read = ReadConfig(config_path, run.overrides);
        run.name = fs::path(config).stem().string() + "-" + read.model.attention + "-s" + std::to_string(seed);
        run.folder = sweep.folder + "/" + run.name;
        if (!names.insert(run.name).second) file.Fail("two runs are called " + run.name + "; leave one out");
        sweep.runs.push_back(std::move(run));
      }
    }
  }
  return sweep;
}

std::string SlurmScript(const Sweep& sweep, const std::string& program, const SlurmOptions& options) {
  const auto quoted = [](const std::string& text) {  // for sh
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
  };
  std::ostringstream out;
  out << "#!/bin/sh\n"
      << "# One run of " << sweep.file
      << " for each index: sbatch THIS_FILE. Submit it again to go on with what is not done.\n"
      << "#SBATCH --job-name=tra-" << fs::path(sweep.file).stem().string() << "\n"
      << "#SBATCH --array=0-" << sweep.runs.size() - 1 << "\n"
      << "#SBATCH --cpus-per-task=" << options.cores << "\n"
      << (options.gpu ? "#SBATCH --gres=gpu:1\n" : "") << "#SBATCH --time=" << options.time << "\n"
      << "#SBATCH --output=" << sweep.folder
      << "/slurm-%A_%a.log\n"
      // Two minutes to save before the time is up. B: to the script itself, which the run replaces.
      << "#SBATCH --signal=B:TERM@120\n"
      << "exec " << quoted(program) << " sweep " << quoted(sweep.file)
      << " --index \"$SLURM_ARRAY_TASK_ID\" --threads \"$SLURM_CPUS_PER_TASK\"";
  if (options.gpu) out << " --device cuda";
  for (const std::string& each : sweep.overrides) out << " --set " << quoted(each);
  out << "\n";
  return out.str();
}

}  // namespace tra
