// Scores of a model on the data of its run, as result rows.
#ifndef TRA_EVAL_EVALUATE_H_
#define TRA_EVAL_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/report/results.h"
#include "tra/run/data.h"

namespace tra {

struct EvaluateOptions {
  // Examples of a split, or windows of a text; 0: those of eval.examples, and all of a text.
  int64_t most = 0;
  // Tasks: instead of the configuration's.
  std::vector<std::string> splits;
  std::optional<Range> lengths;  // the split's examples at these lengths, under their name ("400-400", "sparse 20-20")
  // Text: likewise.
  std::string text_split;
  std::vector<int64_t> windows;
  std::optional<int64_t> stride;
  // Where several processes share the work: this one's number, theirs, and what adds values over all of them. They meet
  // often, in rounds of a few batches, so that none waits long for another.
  int64_t share = 0, shares = 1;
  std::function<void(std::vector<double>&)> sum;
  std::function<bool()> stop;  // asked after each round: true in any process ends it in all, with EvaluationStopped
  std::function<void(const std::string&)> progress;  // told what is next
};

struct EvaluationStopped : std::exception {
  const char* what() const noexcept override { return "evaluation was stopped on request"; }
};

// Rows of tasks: em, token_error and loss (by answer), for all and by group. Rows of text, by window: ppl_token, loss
// (by token) also by position in the window ("at 64-127"), and ppl_word if all of the text was scored. WikiText's own
// count of words has one for the end of each line, and so has ours.
std::vector<ResultRow> Evaluate(Decoder& model, const RunData& data, const RunConfig& config,
                                const EvaluateOptions& options = {});

// With what a table needs to know beside the rows.
RunResults MakeResults(const RunConfig& config, const RunData& data, int64_t step, std::vector<ResultRow> rows,
                       const EvaluateOptions& options = {});

// The exact match of the worst split: what train.target is about. Nothing where there is none.
std::optional<double> WorstExactMatch(const std::vector<ResultRow>& rows);

}  // namespace tra

#endif  // TRA_EVAL_EVALUATE_H_
