#include "tra/kernels/adamw_reference.h"

#include <cmath>

namespace tra {

template <typename T>
void AdamWUpdateReference(const std::vector<AdamWArray<T>>& arrays, const AdamWOptions& options) {
  CheckAdamW(options);
  for (const AdamWArray<T>& array : arrays) {
    CheckAdamWStep(array.step);
    const auto step = static_cast<double>(array.step);
    const double step_size = options.lr / (1 - std::pow(options.beta1, step));
    const double root_correction = std::sqrt(1 - std::pow(options.beta2, step));
    for (size_t i = 0; i < array.n; ++i) {
      const double g = options.grad_scale * array.grad[i];
      const double m = options.beta1 * array.exp_avg[i] + (1 - options.beta1) * g;
      const double v = options.beta2 * array.exp_avg_sq[i] + (1 - options.beta2) * g * g;
      const double decayed = array.parameter[i] * (1 - options.lr * array.weight_decay);
      array.parameter[i] = static_cast<T>(decayed - step_size * m / (std::sqrt(v) / root_correction + options.eps));
      array.exp_avg[i] = static_cast<T>(m);
      array.exp_avg_sq[i] = static_cast<T>(v);
      if (options.zero_grad) array.grad[i] = 0;
    }
  }
}

template void AdamWUpdateReference(const std::vector<AdamWArray<float>>&, const AdamWOptions&);
template void AdamWUpdateReference(const std::vector<AdamWArray<double>>&, const AdamWOptions&);

}  // namespace tra
