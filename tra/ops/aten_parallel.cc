#include "tra/ops/aten_parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>

namespace tra {

AtenParallel::AtenParallel()
    : workers_(at::in_parallel_region() ? 1 : static_cast<size_t>(std::max(1, at::get_num_threads()))) {}

void AtenParallel::Run(size_t tasks, const Body& body) {
  if (workers_ == 1 || tasks <= 1) {
    for (size_t task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  // parallel_for hands out equal ranges. Here these are ranges of workers, each of which takes tasks until none is
  // left.
  std::atomic<size_t> next{0};
  const auto workers = static_cast<int64_t>(std::min(workers_, tasks));
  at::parallel_for(0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      for (size_t task = next++; task < tasks; task = next++) body(task, static_cast<size_t>(worker));
    }
  });
}

}  // namespace tra
