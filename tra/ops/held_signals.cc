#include "tra/ops/held_signals.h"

#include <omp.h>
#include <pthread.h>

#include <initializer_list>

namespace tra {
namespace {

// What the processor raises for a fault of the code itself cannot wait.
sigset_t SignalsThatCanWait() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) sigdelset(&signals, fault);
  return signals;
}

}  // namespace

HeldSignals::HeldSignals() {
  static const sigset_t signals = SignalsThatCanWait();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  thread_local int team = 1;  // how many threads of this thread's team are known to hold signals back
  if (omp_in_parallel() == 0 && omp_get_max_threads() != team) {
#pragma omp parallel
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    team = omp_get_max_threads();
  }
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace tra
