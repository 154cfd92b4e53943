// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_RMS_NORM_REFERENCE_H_
#define TRA_KERNELS_RMS_NORM_REFERENCE_H_

#include "tra/kernels/rms_norm.h"

namespace tra {

void RmsNormForwardReference(const RmsNormForwardArgs<double>& args);
void RmsNormBackwardReference(const RmsNormBackwardArgs<double>& args);

}  // namespace tra

#endif  // TRA_KERNELS_RMS_NORM_REFERENCE_H_
