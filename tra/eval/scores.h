// Computes what evaluation counts, before any mean is taken: sums that can be added over parts and processes.
#ifndef TRA_EVAL_SCORES_H_
#define TRA_EVAL_SCORES_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/report/results.h"
#include "tra/tasks/example.h"
#include "tra/text/token_file.h"

namespace tra {

struct ExampleScore {
  double examples = 0, exact = 0;           // exact: every answer right, by argmax under teacher forcing
  double answers = 0, wrong = 0, loss = 0;  // loss: summed over answers
};

// Says what result rows are about.
struct RowPlace {
  std::string split, group;
  int64_t window = 0;
};
// Appends the rows of a score.
void AddRows(const RowPlace& place, const ExampleScore& score, std::vector<ResultRow>& rows);

// Reports that the loss is not finite: the weights are damaged, or training diverged.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Scores the examples first .. first + count - 1 and returns one score per Example::group, of which there are `groups`,
// or one if that is 0. `positions` bounds what is computed at once. Throws NotFinite.
std::vector<ExampleScore> ScoreExamples(Decoder& model, const ExampleSource& source, uint64_t first, int64_t count,
                                        size_t groups, int64_t positions);

struct TokenScore {
  double tokens = 0, bytes = 0, loss = 0;  // of the tokens that were scored: how many, how long, summed over them
};

struct TextScore {
  TokenScore all;
  // Scores by position within the window: [0] is position 0, [k] positions 2^(k-1) .. 2^k - 1.
  std::vector<TokenScore> buckets;
};

void AddRows(const RowPlace& place, const TokenScore& score, std::vector<ResultRow>& rows);

// Selects windows by number: first, first + every, ... below end.
struct WindowRange {
  int64_t first, end, every = 1;
};

// Scores windows of a text. `token_bytes` says of each id how many bytes of the text it stands for.
TextScore ScoreText(Decoder& model, const TokenFile& tokens, const std::vector<int64_t>& token_bytes, int64_t window,
                    int64_t stride, const WindowRange& range, int64_t positions);

}  // namespace tra

#endif  // TRA_EVAL_SCORES_H_
