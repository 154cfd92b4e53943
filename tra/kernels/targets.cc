#include "tra/kernels/targets.h"

#include "hwy/highway.h"
#include "hwy/targets.h"

namespace tra {

std::vector<int64_t> Targets() { return hwy::SupportedAndGeneratedTargets(); }

std::string TargetName(int64_t target) { return hwy::TargetName(target); }

// Targets() begins with the best target, which has the lowest bit.
std::string ChosenTargetName() { return TargetName(Targets().front()); }

void ForceTarget(int64_t target) { hwy::SetSupportedTargetsForTest(target); }

}  // namespace tra
