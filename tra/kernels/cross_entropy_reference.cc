#include "tra/kernels/cross_entropy_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tra {

template <typename T>
void CrossEntropyReference(const CrossEntropyArgs<T>& args) {
  CheckTargets(args.targets, args.rows, args.classes);
  for (size_t row = 0; row < args.rows; ++row) {
    const std::vector<double> x(args.logits + row * args.classes, args.logits + (row + 1) * args.classes);
    const auto target = static_cast<size_t>(args.targets[row]);
    const bool finite = std::all_of(x.begin(), x.end(), [](double each) { return std::isfinite(each); });
    const auto largest = std::max_element(x.begin(), x.end());  // the first of equal ones
    double sum = 0;
    for (const double each : x) sum += std::exp(each - *largest);
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    args.losses[row] = finite ? *largest - x[target] + std::log(sum) : kNaN;
    if (args.correct != nullptr) args.correct[row] = finite && largest == x.begin() + args.targets[row] ? 1 : 0;
    if (args.gradient == nullptr) continue;
    for (size_t c = 0; c < args.classes; ++c) {
      const double gradient = std::exp(x[c] - *largest) / sum - (c == target ? 1 : 0);
      args.gradient[row * args.classes + c] = static_cast<T>(finite ? args.scale * gradient : kNaN);
    }
  }
}

template void CrossEntropyReference(const CrossEntropyArgs<float>&);
template void CrossEntropyReference(const CrossEntropyArgs<double>&);

}  // namespace tra
