// Rotary position embedding: channels c and c + width / 2 of a row are a pair, turned by position * theta^(-2c /
// width).
#ifndef TRA_KERNELS_ROPE_H_
#define TRA_KERNELS_ROPE_H_

#include <cstddef>
#include <cstdint>

#include "tra/kernels/attention.h"
#include "tra/kernels/parallel.h"

namespace tra {

struct RopeShape {
  size_t batch = 1;
  size_t heads = 1;
  size_t positions = 0;
  size_t width = 0;  // even
};

template <typename T>
struct RopeArgs {
  RopeShape shape;
  Rows<const T> x;
  Rows<T> out;
  int64_t first_position = 0;  // of every batch entry; row i stands at first_position + i
  double theta = 10000.0;
  bool backwards = false;  // turns by minus the angle: the inverse, and the gradient
};

// Angles are exact to float64; their sine and cosine are rounded to fp32. Bit-equal over repeats, over the number of
// workers, and over how a sequence is cut into calls.
void Rotate(const RopeArgs<float>& args, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ROPE_H_
