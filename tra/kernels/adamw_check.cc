#include "tra/kernels/adamw_check.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace tra {

void CheckAdamW(const AdamWOptions& options) {
  const auto refuse = [](const std::string& what, double value) {
    throw std::invalid_argument("adamw: " + what + ", got " + std::to_string(value));
  };
  for (const double beta : {options.beta1, options.beta2}) {
    if (!(beta >= 0.0 && beta < 1.0)) refuse("beta1 and beta2 must be in [0, 1)", beta);
  }
  if (!(options.eps >= 0.0)) refuse("eps must be at least 0", options.eps);
  if (!std::isfinite(options.lr)) refuse("lr must be finite", options.lr);
  if (!std::isfinite(options.grad_scale)) {
    refuse("grad_scale must be finite; skip the step if the gradient norm is not", options.grad_scale);
  }
}

void CheckAdamWStep(int64_t step) {
  if (step < 1) throw std::invalid_argument("adamw: steps count from 1, got " + std::to_string(step));
}

}  // namespace tra
