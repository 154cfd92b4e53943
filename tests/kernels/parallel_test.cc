#include "tra/kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tra {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const size_t workers : {1, 2, 5}) {
    ThreadPool pool(workers);
    EXPECT_EQ(pool.Workers(), workers);
    for (const size_t tasks : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> seen(tasks);
      pool.Run(tasks, [&](size_t task, size_t worker) {
        ASSERT_LT(worker, workers);
        ++seen[task];
      });
      for (const std::atomic<int>& each : seen) EXPECT_EQ(each, 1);
    }
  }
}

TEST(ThreadPool, DefaultsToOneWorkerPerCore) { EXPECT_GE(ThreadPool(0).Workers(), 1u); }

TEST(ThreadPool, RethrowsAndGoesOn) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.Run(100,
                        [](size_t task, size_t) {
                          if (task == 50) throw std::runtime_error("task 50");
                        }),
               std::runtime_error);
  std::atomic<int> count{0};
  pool.Run(10, [&](size_t, size_t) { ++count; });
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace tra
