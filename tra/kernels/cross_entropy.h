// Computes the cross-entropy of rows of logits. Its gradient may overwrite the logits, which saves a second array of
// their size.
//
// cross_entropy_reference.h computes the same in plain float64 loops.
#ifndef TRA_KERNELS_CROSS_ENTROPY_H_
#define TRA_KERNELS_CROSS_ENTROPY_H_

#include <cstddef>
#include <cstdint>

#include "tra/kernels/parallel.h"

namespace tra {

template <typename T>
struct CrossEntropyArgs {
  size_t rows = 0;
  size_t classes = 0;
  const T* logits = nullptr;         // [rows, classes]
  const int64_t* targets = nullptr;  // [rows], each in [0, classes)
  double* losses = nullptr;          // [rows], log(sum(exp(logits))) - logits[target]
  uint8_t* correct = nullptr;        // [rows], 1 where the target is the first of the largest logits; may be null
  // [rows, classes], scale * (softmax(logits) - onehot(target)); null if not wanted, may be `logits` itself.
  T* gradient = nullptr;
  double scale = 1.0;
};

// Throws std::invalid_argument for a target outside [0, classes).
void CheckTargets(const int64_t* targets, size_t rows, size_t classes);

// Computes the losses, and `correct` and `gradient` unless they are null. A row with a logit that is not finite has
// loss NaN and gradient NaN, and is not correct. Results are bit-equal over repeats and for any number of workers.
// Throws std::invalid_argument for a target outside [0, classes).
void CrossEntropy(const CrossEntropyArgs<float>& args, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_CROSS_ENTROPY_H_
