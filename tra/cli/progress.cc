#include "tra/cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>

#include "tra/cli/runtime.h"
#include "tra/report/measure.h"

namespace tra::cli {

std::string DurationText(double seconds) {
  const auto total = std::llround(seconds);
  char text[32];
  if (total >= 3600) {
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", total / 3600, total / 60 % 60, total % 60);
  } else {
    std::snprintf(text, sizeof(text), "%lld:%02lld", total / 60, total % 60);
  }
  return text;
}

namespace {

std::string Bar(int64_t done, int64_t of) {
  constexpr int64_t kWidth = 20;
  const auto filled = static_cast<size_t>(kWidth * done / of);
  return "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "]";
}

std::string StepText(const StepInfo& info) {
  char text[160];
  std::snprintf(text, sizeof(text), "step %lld/%lld  loss %.4f  right %.2f%%  lr %.2e  %.0f tokens/s  %s left",
                static_cast<long long>(info.step), static_cast<long long>(info.steps), info.loss, 100 * info.accuracy,
                info.lr, info.tokens_per_second, DurationText(info.seconds_left).c_str());
  return text;
}

}  // namespace

std::string RowsText(const std::vector<ResultRow>& rows) {
  std::string text, last;
  for (const ResultRow& row : rows) {
    const Metric& metric = FindMetric(row.metric);
    if (!row.group.empty() || !metric.headline) continue;
    if (row.metric != last) text += (text.empty() ? "" : "; ") + std::string(metric.title) + ": ";
    if (row.metric == last) text += ", ";
    text += row.split + (row.window > 0 ? " at " + std::to_string(row.window) : "") + " ";
    text += ShownValue(metric, row.value) + metric.unit;
    last = row.metric;
  }
  return text;
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::cerr << "\n";
}

void Progress::Clear() {
  if (shown_) std::cerr << "\r\033[K";
  shown_ = false;
}

void Progress::Step(const StepInfo& info) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    Clear();
    std::cerr << Bar(info.step, info.steps) << " " << StepText(info) << std::flush;
    shown_ = true;
  } else if (info.step == info.steps || now - last_ >= std::chrono::seconds(10)) {
    std::cerr << StepText(info) << "\n";
    last_ = now;
  }
}

void Progress::ShowEvaluation(int64_t step, const std::vector<ResultRow>& rows) {
  if (quiet_) return;
  Clear();
  std::cerr << "step " << step << "  " << RowsText(rows) << "\n";
}

void Progress::Notice(const std::string& text) {
  Clear();
  if (!quiet_) std::cerr << "tra: " << text << "\n";
}

void Progress::Warn(const std::string& text) {
  Clear();
  std::cerr << "tra: " << text << "\n";
}

TrainHooks Progress::Hooks() {
  TrainHooks hooks;
  hooks.logged = [this](const StepInfo& info) { Step(info); };
  hooks.evaluated = [this](int64_t step, const std::vector<ResultRow>& rows) { ShowEvaluation(step, rows); };
  hooks.notice = [this](const std::string& text) { Notice(text); };
  hooks.warning = [this](const std::string& text) { Warn(text); };
  hooks.stop = [] { return StopRequested(); };
  return hooks;
}

}  // namespace tra::cli
