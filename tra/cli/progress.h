// Shows how a run is going on standard error: a line that is overwritten on a terminal, plain lines elsewhere.
#ifndef TRA_CLI_PROGRESS_H_
#define TRA_CLI_PROGRESS_H_

#include <chrono>
#include <string>
#include <vector>

#include "tra/report/results.h"
#include "tra/train/trainer.h"

namespace tra::cli {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();

  void Step(const StepInfo& info);
  void ShowEvaluation(int64_t step, const std::vector<ResultRow>& rows);
  void Notice(const std::string& text);
  void Warn(const std::string& text);  // also when quiet

  TrainHooks Hooks();  // call the functions above, and stop on a signal

 private:
  void Clear();

  bool quiet_, terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

std::string DurationText(double seconds);  // "1:02:03" or "2:03"

// Returns the scores to follow training by: "exact match: iid 99.50%, sparse 98.20%", or perplexities.
std::string RowsText(const std::vector<ResultRow>& rows);

}  // namespace tra::cli

#endif  // TRA_CLI_PROGRESS_H_
