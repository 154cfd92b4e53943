#include "tra/cli/last_step.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tra/base/json.h"
#include "tra/cli/progress.h"
#include "tra/report/results.h"
#include "tra/run/files.h"

namespace tra::cli {
namespace {

using json = nlohmann::ordered_json;  // scores are shown in the order in which they were written

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double NumberOf(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : std::nan("");
}

// Returns the scores of a line of metrics, whose names are eval/SPLIT/METRIC or eval/SPLIT/WINDOW/METRIC; those of
// groups are left out.
std::vector<ResultRow> ScoresOf(const json& line) {
  std::vector<ResultRow> rows;
  for (const auto& [name, value] : line.items()) {
    std::vector<std::string> parts;
    std::istringstream text(name);
    for (std::string part; std::getline(text, part, '/');) parts.push_back(part);
    if (parts.size() < 3 || parts[0] != "eval" || !value.is_number()) continue;
    ResultRow row;
    row.split = parts[1];
    row.metric = parts.back();
    row.value = value.get<double>();
    const std::string between = parts.size() == 4 ? parts[2] : "";
    if (parts.size() > 4 || between.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!between.empty()) row.window = std::stoll(between);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

void LastStep::Read(const std::string& path, int64_t size, std::optional<double> began) {
  constexpr int64_t kMost = 65536;  // some hundred lines
  const int64_t from = std::max<int64_t>(0, size - kMost);
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  double first_step = 0, first_at = std::nan("");
  seconds_per_step_ = 0;
  for (std::string text; std::getline(file, text);) {  // the first may be cut off, the last may not be whole yet
    const json line = ParseJsonIfAny<json>(text);
    if (!line.is_object()) continue;
    const std::string scores = RowsText(ScoresOf(line));
    if (!scores.empty()) scores_ = scores;
    const double step = NumberOf(line, "step"), at = NumberOf(line, "wall_time"), loss = NumberOf(line, "train/loss");
    if (std::isnan(step) || std::isnan(loss)) continue;
    step_ = static_cast<int64_t>(step);
    loss_ = loss;
    at_ = at;
    if (!began || std::isnan(at) || at < *began) continue;
    if (std::isnan(first_at)) {
      first_step = step;
      first_at = at;
    } else if (step > first_step) {
      seconds_per_step_ = (at - first_at) / (step - first_step);
    }
  }
}

std::string LastStep::Text(const std::string& run, int64_t steps, std::optional<double> began) {
  const std::string path = run_files::In(run, run_files::kMetrics);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<int64_t>(file.tellg());
  if (size != size_) Read(path, size, began);
  size_ = size;
  std::string text;
  if (step_ >= 0) {
    char about[96];
    std::snprintf(about, sizeof(about), "step %lld/%lld, loss %.4f", static_cast<long long>(step_),
                  static_cast<long long>(steps), loss_);
    text = about;
  }
  if (began && step_ < steps && seconds_per_step_ > 0) {
    const double left = static_cast<double>(steps - step_) * seconds_per_step_ - (Now() - at_);
    text += ", " + DurationText(std::max(0.0, left)) + " left";
  }
  if (!scores_.empty()) text += (text.empty() ? "" : ", ") + scores_;
  return text;
}

}  // namespace tra::cli
