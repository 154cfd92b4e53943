// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_ROPE_REFERENCE_H_
#define TRA_KERNELS_ROPE_REFERENCE_H_

#include "tra/kernels/rope.h"

namespace tra {

void RotateReference(const RopeArgs<double>& args);

}  // namespace tra

#endif  // TRA_KERNELS_ROPE_REFERENCE_H_
