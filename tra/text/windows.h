// Computes which stretches of a text to train and to evaluate on from an index alone, so that there is no state to
// save.
#ifndef TRA_TEXT_WINDOWS_H_
#define TRA_TEXT_WINDOWS_H_

#include <cstdint>

namespace tra {

// Returns how many training windows an epoch has. A window is `length` inputs and their `length` targets, one token
// further on: length + 1 tokens. The windows of an epoch lie side by side; each epoch draws a new start and a new
// order. Fewer than two windows' worth of tokens at the ends are left for other epochs. This and TrainWindow throw
// std::invalid_argument if the text is shorter than a window.
int64_t TrainWindowsPerEpoch(int64_t token_count, int64_t length);
// Returns the first token of window `index`. The index does not start again at 0 with a new epoch.
int64_t TrainWindow(int64_t token_count, int64_t length, uint64_t seed, int64_t index);

// Describes an evaluation window. Windows begin every `stride` tokens. All targets of the first window are scored, and
// in each later one the targets that the window before it did not reach, so that every token of the text but the first
// is scored once, with at least length - stride tokens of context from the second window on. With a stride of `length`
// windows do not overlap. The last window may be shorter.
struct EvalWindow {
  int64_t begin;         // the first input
  int64_t length;        // number of inputs; the targets are one token further on
  int64_t first_scored;  // targets from this one on, counted from 0 within the window, are scored
};
// Both throw std::invalid_argument for fewer than two tokens or a stride outside 1..length.
int64_t EvalWindowCount(int64_t token_count, int64_t length, int64_t stride);
EvalWindow GetEvalWindow(int64_t token_count, int64_t length, int64_t stride, int64_t index);

}  // namespace tra

#endif  // TRA_TEXT_WINDOWS_H_
