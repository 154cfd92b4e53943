// Sums up numbers that come one at a time.
#ifndef TRA_INSPECT_RUNNING_MEAN_H_
#define TRA_INSPECT_RUNNING_MEAN_H_

#include <cmath>
#include <cstdint>
#include <optional>

namespace tra {

// Keeps mean and deviation up to date, by Welford's updates, which lose no digits where the deviation is small.
class RunningMean {
 public:
  void Add(double value) {
    ++n_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(n_);
    squares_ += before * (value - mean_);
  }

  int64_t n() const { return n_; }
  // Both are nothing where there are too few numbers: none, and less than two.
  std::optional<double> Mean() const { return n_ > 0 ? std::optional(mean_) : std::nullopt; }
  std::optional<double> Deviation() const {
    return n_ > 1 ? std::optional(std::sqrt(squares_ / static_cast<double>(n_ - 1))) : std::nullopt;
  }

 private:
  int64_t n_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace tra

#endif  // TRA_INSPECT_RUNNING_MEAN_H_
