// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_SWIGLU_REFERENCE_H_
#define TRA_KERNELS_SWIGLU_REFERENCE_H_

#include "tra/kernels/swiglu.h"

namespace tra {

void SwiGluForwardReference(const SwiGluForwardArgs<double>& args);
void SwiGluBackwardReference(const SwiGluBackwardArgs<double>& args);

}  // namespace tra

#endif  // TRA_KERNELS_SWIGLU_REFERENCE_H_
