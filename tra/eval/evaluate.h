// Scores a model on the data of its run, and returns the scores as result rows.
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
  // Examples per split, or the most windows of a text; 0: eval.examples, or all of the text.
  int64_t most = 0;
  // For tasks, instead of the configuration's.
  std::vector<std::string> splits;
  std::optional<Range> lengths;  // score examples of these lengths, in rows named "400-400" or "sparse 20-20"
  // For text, instead of the configuration's.
  std::string text_split;
  std::vector<int64_t> windows;
  std::optional<int64_t> stride;
  // For several processes that share the work: the number of this one, how many there are, and a function that sums
  // values over all of them. They meet often, in rounds of a few batches, so that none waits long for another.
  int64_t share = 0, shares = 1;
  std::function<void(std::vector<double>&)> sum;
  std::function<bool()> stop;  // asked after each round; true in any process makes all throw EvaluationStopped
  std::function<void(const std::string&)> progress;  // told what is scored next
};

struct EvaluationStopped : std::exception {
  const char* what() const noexcept override { return "evaluation was stopped on request"; }
};

// Returns the rows of all scores. For tasks: em, token_error and loss (per answer), for all examples and by group. For
// text, by window: ppl_token, bits_per_byte and loss (per token), for all and by position in the window ("at 64-127"),
// and ppl_word if all of the text was scored. Its number of words includes one for the end of each line, as WikiText
// counts them; bytes are those of the tokens that were scored, so bits per byte compare across tokenizers.
std::vector<ResultRow> Evaluate(Decoder& model, const RunData& data, const RunConfig& config,
                                const EvaluateOptions& options = {});

// Returns the rows together with what a table needs to know besides them.
RunResults MakeResults(const RunConfig& config, const RunData& data, int64_t step, std::vector<ResultRow> rows,
                       const EvaluateOptions& options = {});

// Returns the exact match of the worst split, to which train.target refers; nothing if there is none.
std::optional<double> WorstExactMatch(const std::vector<ResultRow>& rows);

}  // namespace tra

#endif  // TRA_EVAL_EVALUATE_H_
