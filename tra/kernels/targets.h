// Lists, and chooses from, the SIMD instruction sets that the kernels were compiled for and that this machine has.
#ifndef TRA_KERNELS_TARGETS_H_
#define TRA_KERNELS_TARGETS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tra {

std::vector<int64_t> Targets();
std::string TargetName(int64_t target);
std::string ChosenTargetName();
// Restricts all kernels to one of Targets(), for tests and comparisons; 0 lifts the restriction. Not thread-safe.
void ForceTarget(int64_t target);

}  // namespace tra

#endif  // TRA_KERNELS_TARGETS_H_
