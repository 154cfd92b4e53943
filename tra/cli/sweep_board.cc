#include "tra/cli/sweep_board.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

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

}  // namespace

size_t Count(const std::vector<SweepJob>& jobs, State state) {
  return static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [state](const SweepJob& job) { return job.state == state; }));
}

SweepBoard::SweepBoard(const std::vector<SweepJob>& jobs) : jobs_(jobs), terminal_(isatty(STDERR_FILENO) != 0) {}

std::string SweepBoard::About(const SweepJob& job) {
  const std::string name = job.run->name + std::string(job.run->name.size() < 28 ? 28 - job.run->name.size() : 1, ' ');
  std::string text = name + kStateNames[static_cast<size_t>(job.state)];
  if (job.state == State::kFailed) {
    text += "  " + job.reason;
  } else if (job.state != State::kWaiting) {
    const auto began = job.state == State::kRunning ? std::optional<double>(job.began) : std::nullopt;
    text += "  " + last_steps_[&job - jobs_.data()].Text(job.run->folder, job.steps, began);
  }
  return text;
}

std::vector<std::string> SweepBoard::Lines(size_t rows) {
  std::vector<std::string> lines;
  if (jobs_.size() <= rows) {
    for (const SweepJob& job : jobs_) lines.push_back(About(job));
  } else {
    for (const SweepJob* job : MostTelling(jobs_, rows > 1 ? rows - 1 : 0)) lines.push_back(About(*job));
    lines.push_back(Counts(jobs_));
  }
  return lines;
}

void SweepBoard::Show() {
  if (!terminal_) return;
  // The cursor needs a row below the table; the last column is left empty, because some terminals wrap there.
  const TerminalSize size = SizeOfTerminal();
  const std::vector<std::string> lines = Lines(size.rows - 1);
  std::string text = "\r";  // a typed ^C moves the cursor
  if (lines_ > 0) text += "\033[" + std::to_string(lines_) + "A";
  for (const std::string& line : lines) text += "\033[K" + Cut(line, size.columns - 1) + "\n";
  std::cerr << text + "\033[J" << std::flush;  // in one write, so that it does not flicker
  lines_ = lines.size();
}

void SweepBoard::Report(const SweepJob& job) {
  if (!terminal_) std::cerr << About(job) << "\n";
}

void SweepBoard::Finish() const {
  if (!terminal_) return;
  for (const SweepJob& job : jobs_) {
    if (job.state == State::kFailed) std::cerr << "tra: " << job.run->name << " failed: " << job.reason << "\n";
  }
}

}  // namespace tra::cli
