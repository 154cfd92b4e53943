// Computes rotary position embeddings: channels c and c + width / 2 of a row are a pair, which is rotated by the angle
// position * theta^(-2c / width).
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
  int64_t first_position = 0;  // position of row 0 in every batch entry; row i has first_position + i
  // [positions], not negative: the position of each row, for rows that are not neighbours. first_position is then not
  // used.
  const int64_t* row_positions = nullptr;
  double theta = 10000.0;
  bool backwards = false;  // rotates by minus the angle: this is the inverse, and also the gradient
};

// Rotates x into out. Angles are computed in float64; their sine and cosine are rounded to fp32. Results are bit-equal
// over repeats, for any number of workers, and however a sequence is cut into calls.
void Rotate(const RopeArgs<float>& args, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ROPE_H_
