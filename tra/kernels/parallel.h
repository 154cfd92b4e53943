// Decides which threads run the tasks. Kernels start no threads; they hand independent tasks to a Parallel, which owns
// the threads.
#ifndef TRA_KERNELS_PARALLEL_H_
#define TRA_KERNELS_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace tra {

class Parallel {
 public:
  using Body = std::function<void(size_t task, size_t worker)>;

  virtual ~Parallel() = default;
  virtual size_t Workers() const = 0;
  // Calls body(task, worker) once for each task in [0, tasks), worker in [0, Workers()), and returns when all are done.
  // A free worker takes the next task, because tasks that skip keys are shorter than others. The first exception is
  // rethrown.
  virtual void Run(size_t tasks, const Body& body) = 0;
};

// Runs all tasks on the calling thread.
class Serial : public Parallel {
 public:
  size_t Workers() const override { return 1; }
  void Run(size_t tasks, const Body& body) override {
    for (size_t task = 0; task < tasks; ++task) body(task, 0);
  }
};

// Runs tasks on the calling thread and on workers - 1 threads that it starts, for programs without LibTorch. Only one
// Run may be active at a time.
class ThreadPool : public Parallel {
 public:
  explicit ThreadPool(size_t workers);  // 0 means one per core
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t Workers() const override;
  void Run(size_t tasks, const Body& body) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tra

#endif  // TRA_KERNELS_PARALLEL_H_
