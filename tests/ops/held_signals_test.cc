#include "tra/ops/held_signals.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <vector>

#include "tra/ops/product.h"
#include "tra/ops/threads.h"

namespace tra {
namespace {

std::atomic<int> handled{0}, handled_elsewhere{0};
std::atomic<uintptr_t> stack_begin{0}, stack_end{0};

// Counts the signals that arrive, and those at which the stack pointer was outside the stack of the test's thread.
void Count(int, siginfo_t*, void* context) {
  ++handled;
#ifdef REG_RSP
  const auto at = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  if (at < stack_begin || at > stack_end) ++handled_elsewhere;
#else
  static_cast<void>(context);
#endif
}

void FindStack() {
  pthread_attr_t attributes;
  void* stack = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &stack, &size);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<uintptr_t>(stack);
  stack_end = stack_begin + size;
}

// Sends a signal two thousand times per second while it lives. Handlers run on a stack of their own, so that even one
// that should not have come does no harm.
class Alarms {
 public:
  Alarms() : stack_(size_t{1} << 17) {
    FindStack();
    stack_t stack{};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    sigaltstack(&stack, &stack_before_);
    struct sigaction action {};
    action.sa_sigaction = &Count;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(SIGALRM, &action, &action_before_);
    const itimerval every{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~Alarms() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &action_before_, nullptr);
    sigaltstack(&stack_before_, nullptr);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

 private:
  std::vector<char> stack_;
  stack_t stack_before_{};
  struct sigaction action_before_ {};
};

TEST(HeldSignals, AHandlerNeverSeesAStackPointerThatAProductHasMoved) {
  UseThreads(1);
  const at::Tensor x = at::randn({2048, 256}), w = at::randn({512, 256}), d_y = at::randn({2048, 512});
  const at::Tensor y = at::empty({2048, 512}), d_x = at::empty({2048, 256}), d_w = at::empty({512, 256});
  handled = handled_elsewhere = 0;
  const Alarms alarms;
  for (int i = 0; i < 100; ++i) {
    Multiply(y, x, w.t());
    Multiply(d_x, d_y, w);
    Multiply(d_w, d_y.t(), x);
  }
  EXPECT_GT(handled, 10);
  EXPECT_EQ(handled_elsewhere, 0);
}

TEST(HeldSignals, OtherThreadsOfOpenMPTakeNoSignals) {
  UseThreads(3);
  { const HeldSignals signals; }
  std::atomic<int> open{0};
  const pthread_t caller = pthread_self();
  at::parallel_for(0, 3, 1, [&](int64_t, int64_t) {
    sigset_t held;
    pthread_sigmask(SIG_BLOCK, nullptr, &held);
    const bool holds = sigismember(&held, SIGINT) == 1 && sigismember(&held, SIGALRM) == 1;
    if (holds == (pthread_equal(caller, pthread_self()) != 0)) ++open;
  });
  EXPECT_EQ(open, 0);
  UseThreads(1);
}

TEST(HeldSignals, AThreadHasItsSignalsBackAfterwards) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  { const HeldSignals signals; }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

}  // namespace
}  // namespace tra
