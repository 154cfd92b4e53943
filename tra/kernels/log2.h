// Defines the constants that convert between natural logarithms and those of base 2, in which the kernels compute
// exponentials. A variable whose name ends in _log2 holds a logarithm of base 2.
#ifndef TRA_KERNELS_LOG2_H_
#define TRA_KERNELS_LOG2_H_

namespace tra {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kLog2E = 1.4426950408889634;

}  // namespace tra

#endif  // TRA_KERNELS_LOG2_H_
