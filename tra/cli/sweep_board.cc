#include "tra/cli/sweep_board.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tra/base/json.h"
#include "tra/report/measure.h"
#include "tra/run/files.h"

namespace tra::cli {
namespace {

using State = SweepJob::State;

constexpr const char* kStateNames[] = {"waiting", "running", "done", "failed", "stopped"};

struct TerminalSize {
  size_t rows = 24, columns = 80;  // if the terminal does not know
};

TerminalSize SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

// Cuts a line to one row: a longer one would continue in the next row, and the table would creep down the screen.
std::string Cut(const std::string& line, size_t columns) {
  std::string cut;
  size_t used = 0;
  for (const char c : line) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;  // the first byte of a character in UTF-8
    if (begins && used++ == columns) break;
    cut += static_cast<unsigned char>(c) < 0x20u ? ' ' : c;
  }
  return cut;
}

// Returns the headline scores in a line of metrics, as in " iid 100.00% sparse 96.00%"; empty if the line is not of a
// quick evaluation.
std::string ScoresOf(const nlohmann::json& line) {
  std::string scores;
  for (const auto& [name, value] : line.items()) {
    const std::string begin = "eval/";
    const size_t slash = name.rfind('/');
    if (name.rfind(begin, 0) != 0 || slash < begin.size() || !value.is_number()) continue;
    const std::string split = name.substr(begin.size(), slash - begin.size());
    const Metric& metric = FindMetric(name.substr(slash + 1));
    if (!metric.headline || split.find('/') != std::string::npos) continue;
    scores += " " + split + " " + ShownValue(metric, value.get<double>()) + metric.unit;
  }
  return scores;
}

// Returns the last loss and the last scores that metrics.jsonl has, read from its end.
std::string LastStep(const SweepJob& job) {
  std::ifstream file(run_files::In(job.run->folder, run_files::kMetrics), std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<int64_t>(file.tellg());
  const int64_t from = std::max<int64_t>(0, size - 16384);
  file.seekg(from);
  std::string text(static_cast<size_t>(size - from), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::string said, scores;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const auto line = ParseJsonIfAny(text.substr(begin, end - begin));
    if (line.is_object()) {
      const std::string new_scores = ScoresOf(line);
      if (!new_scores.empty()) scores = ", exact match" + new_scores;
    }
    if (line.is_discarded() || !line.contains("train/loss") || !line["train/loss"].is_number()) continue;
    char about[96];
    std::snprintf(about, sizeof(about), "step %lld/%lld, loss %.4f",
                  static_cast<long long>(line["step"].get<int64_t>()), static_cast<long long>(job.steps),
                  line["train/loss"].get<double>());
    said = about;
  }
  return said + scores;
}

std::string About(const SweepJob& job) {
  const std::string name = job.run->name + std::string(job.run->name.size() < 28 ? 28 - job.run->name.size() : 1, ' ');
  std::string text = name + kStateNames[static_cast<size_t>(job.state)];
  if (job.state != State::kWaiting && job.state != State::kFailed) text += "  " + LastStep(job);
  if (job.state == State::kFailed) text += "  " + job.reason;
  return text;
}

// Returns "36 runs: 12 done, 2 running, 22 waiting".
std::string Counts(const std::vector<SweepJob>& jobs) {
  std::string text = std::to_string(jobs.size()) + " runs";
  const char* separator = ": ";
  for (const State state : {State::kDone, State::kRunning, State::kFailed, State::kStopped, State::kWaiting}) {
    const size_t count = Count(jobs, state);
    if (count == 0) continue;
    text += separator + std::to_string(count) + " " + kStateNames[static_cast<size_t>(state)];
    separator = ", ";
  }
  return text;
}

// Returns the runs to show if there are more than rows: those running, then those that failed, in the order of the
// sweep.
std::vector<const SweepJob*> MostTelling(const std::vector<SweepJob>& jobs, size_t most) {
  std::vector<const SweepJob*> chosen;
  for (const State state : {State::kRunning, State::kFailed}) {
    for (const SweepJob& job : jobs) {
      if (job.state == state && chosen.size() < most) chosen.push_back(&job);
    }
  }
  std::sort(chosen.begin(), chosen.end());  // pointers into one vector
  return chosen;
}

// Returns the lines of the table, at most `rows` and at least one.
std::vector<std::string> Lines(const std::vector<SweepJob>& jobs, size_t rows) {
  std::vector<std::string> lines;
  if (jobs.size() <= rows) {
    for (const SweepJob& job : jobs) lines.push_back(About(job));
  } else {
    for (const SweepJob* job : MostTelling(jobs, rows > 1 ? rows - 1 : 0)) lines.push_back(About(*job));
    lines.push_back(Counts(jobs));
  }
  return lines;
}

}  // namespace

size_t Count(const std::vector<SweepJob>& jobs, State state) {
  return static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [state](const SweepJob& job) { return job.state == state; }));
}

SweepBoard::SweepBoard(const std::vector<SweepJob>& jobs) : jobs_(jobs), terminal_(isatty(STDERR_FILENO) != 0) {}

void SweepBoard::Show() {
  if (!terminal_) return;
  // The cursor needs a row below the table; the last column is left empty, because some terminals wrap there.
  const TerminalSize size = SizeOfTerminal();
  const std::vector<std::string> lines = Lines(jobs_, size.rows - 1);
  std::string text = "\r";  // a typed ^C moves the cursor
  if (lines_ > 0) text += "\033[" + std::to_string(lines_) + "A";
  for (const std::string& line : lines) text += "\033[K" + Cut(line, size.columns - 1) + "\n";
  std::cerr << text + "\033[J" << std::flush;  // in one write, so that it does not flicker
  lines_ = lines.size();
}

void SweepBoard::Report(const SweepJob& job) const {
  if (!terminal_) std::cerr << About(job) << "\n";
}

void SweepBoard::Finish() const {
  if (!terminal_) return;
  for (const SweepJob& job : jobs_) {
    if (job.state == State::kFailed) std::cerr << "tra: " << job.run->name << " failed: " << job.reason << "\n";
  }
}

}  // namespace tra::cli
