// Keeps signal handlers from running in the middle of a product. On processors with AVX-512 some kernels of oneDNN's
// sgemm let the stack pointer point into their workspace on the heap. The kernel of the system puts the frame of a
// handler right below the stack pointer, so that a handler that runs there overwrites whatever lies before the
// workspace.
#ifndef TRA_OPS_HELD_SIGNALS_H_
#define TRA_OPS_HELD_SIGNALS_H_

#include <csignal>

namespace tra {

// Holds back all signals from this thread while it lives; one that arrives meanwhile is handled right after. OpenMP's
// other threads, which have no handlers of their own to run, hold them back for good. (Teams that OpenMP makes larger
// later begin without this. Programs that must be safe on all threads block their signals before they start any, and
// take them in a thread that computes nothing, as `tra` does.)
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace tra

#endif  // TRA_OPS_HELD_SIGNALS_H_
