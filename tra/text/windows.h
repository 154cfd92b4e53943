// Which stretches of a text to train and to evaluate on, by index: no state to save.
#ifndef TRA_TEXT_WINDOWS_H_
#define TRA_TEXT_WINDOWS_H_

#include <cstdint>

namespace tra {

// A training window is `length` inputs and their `length` targets, one further on: length + 1 tokens. An epoch is so
// many windows, side by side from a start that each epoch draws anew, in an order of its own. Fewer than two windows'
// worth of tokens at the ends are left for other epochs. Throw std::invalid_argument if the text is shorter than a
// window.
int64_t TrainWindowsPerEpoch(int64_t token_count, int64_t length);
// The first token of window `index`, which goes on counting through the epochs.
int64_t TrainWindow(int64_t token_count, int64_t length, uint64_t seed, int64_t index);

// Evaluation windows begin every `stride` tokens. All targets of the first are scored, and of each other one those that
// the one before did not reach: every token of the text but the first is scored once, with at least length - stride
// tokens of context from the second window on. A stride of `length` is no overlap. The last window may be shorter.
struct EvalWindow {
  int64_t begin;         // of the inputs
  int64_t length;        // inputs; the targets are one further on
  int64_t first_scored;  // targets from this one on, counted from 0 within the window, are scored
};
// Throw std::invalid_argument for fewer than two tokens or a stride out of 1..length.
int64_t EvalWindowCount(int64_t token_count, int64_t length, int64_t stride);
EvalWindow GetEvalWindow(int64_t token_count, int64_t length, int64_t stride, int64_t index);

}  // namespace tra

#endif  // TRA_TEXT_WINDOWS_H_
