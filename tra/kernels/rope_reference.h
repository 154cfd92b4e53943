// What the kernel computes, as plain loops in float64.
#ifndef TRA_KERNELS_ROPE_REFERENCE_H_
#define TRA_KERNELS_ROPE_REFERENCE_H_

#include "tra/kernels/rope.h"

namespace tra {

void RotateReference(const RopeArgs<double>& args);

}  // namespace tra

#endif  // TRA_KERNELS_ROPE_REFERENCE_H_
