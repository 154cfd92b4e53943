#include "tra/kernels/parallel.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tra {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable start, finish;
  uint64_t generation = 0;  // counts Run calls; a worker waits for the next one
  size_t busy = 0;
  bool quit = false;
  const Body* body = nullptr;
  size_t tasks = 0;
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::vector<std::thread> threads;

  void Work(size_t worker) {
    try {
      for (size_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) (*body)(task, worker);
    } catch (...) {
      next.store(tasks);  // the remaining tasks need not start
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
  }

  void Loop(size_t worker) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      start.wait(lock, [&] { return quit || generation != seen; });
      if (quit) return;
      seen = generation;
      lock.unlock();
      Work(worker);
      lock.lock();
      if (--busy == 0) finish.notify_one();
    }
  }
};

ThreadPool::ThreadPool(size_t workers) : state_(std::make_unique<State>()) {
  if (workers == 0) workers = std::thread::hardware_concurrency();
  for (size_t worker = 1; worker < workers; ++worker) {
    state_->threads.emplace_back([this, worker] { state_->Loop(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->quit = true;
  }
  state_->start.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

size_t ThreadPool::Workers() const { return state_->threads.size() + 1; }

void ThreadPool::Run(size_t tasks, const Body& body) {
  State& state = *state_;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.body = &body;
    state.tasks = tasks;
    state.next.store(0);
    state.error = nullptr;
    state.busy = state.threads.size();
    ++state.generation;
  }
  state.start.notify_all();
  state.Work(0);
  std::unique_lock<std::mutex> lock(state.mutex);
  state.finish.wait(lock, [&] { return state.busy == 0; });
  if (state.error) std::rethrow_exception(state.error);
}

}  // namespace tra
