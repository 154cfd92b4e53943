// What evaluation counts, before any mean is taken: sums that can be added over parts and processes.
#ifndef TRA_EVAL_SCORES_H_
#define TRA_EVAL_SCORES_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/tasks/example.h"
#include "tra/text/token_file.h"

namespace tra {

struct ExampleScore {
  double examples = 0, exact = 0;           // exact: every answer right, by argmax under teacher forcing
  double answers = 0, wrong = 0, loss = 0;  // loss: summed over answers
};

// The loss is not finite: the weights are damaged, or training diverged.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Of the examples first .. first + count - 1, by Example::group; at least `groups` of them. `positions` bounds what is
// computed at once. Throws NotFinite.
std::vector<ExampleScore> ScoreExamples(Decoder& model, const ExampleSource& source, uint64_t first, int64_t count,
                                        size_t groups, int64_t positions);

struct TextScore {
  double tokens = 0, loss = 0;  // scored ones
  // By position within the window: [0] is position 0, [k] positions 2^(k-1) .. 2^k - 1.
  std::vector<double> bucket_tokens, bucket_loss;
};

// Windows by their numbers: first, first + every, ... below end.
struct WindowRange {
  int64_t first, end, every = 1;
};

TextScore ScoreText(Decoder& model, const TokenFile& tokens, int64_t window, int64_t stride, const WindowRange& range,
                    int64_t positions);

}  // namespace tra

#endif  // TRA_EVAL_SCORES_H_
