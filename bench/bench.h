// Declares the parts of `tra bench attention`. Each checks what it times, and throws WrongResult rather than print the
// speed of a wrong result.
#ifndef TRA_BENCH_BENCH_H_
#define TRA_BENCH_BENCH_H_

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "bench/report.h"
#include "tra/kernels/attention.h"

namespace tra::bench {

struct Settings {
  int rounds = 9;
  int threads = 0;  // 0 means all cores, until UseThreads sets the number
  bool quick = false;
  std::vector<int64_t> loop_shape = {1, 8, 4096, 64};  // batch, heads, length and width of RunLoop
};

struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Holds a [B,H,T,d] problem with normal q, k, v and gates sigmoid(N(2,1)), or one gate for all.
struct Problem {
  at::Tensor q, k, v, log_gate, d_out;

  static Problem Draw(int64_t batch, int64_t heads, int64_t length, int64_t width);
  void SetGate(double gate);
  // Makes a fraction `density` of the keys score above zero with every query, and the others with none.
  void SetDensity(double density);
  AttentionShape Shape() const;
};

AttentionOptions Options(ScoreRule rule, float stop_eps);

// Run one forward, or forward and backward, as a training step would.
void Forward(const Problem& problem, const AttentionOptions& options);
void Both(const Problem& problem, const AttentionOptions& options, bool composed = false);
// Compute the same by the operations of the paper's listing, one by one.
at::Tensor Listing(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate);
void ListingBoth(const Problem& problem);

// Returns the gradients of q, k, v and, where the rule has one, the gate; then the output.
std::vector<at::Tensor> Gradients(const Problem& problem, const AttentionOptions& options, bool composed);
// Returns, as [B,H,T] or [1], which queries have no score so close to 0 that fp32 may round it to the other side.
at::Tensor Decided(const Problem& wide, const AttentionOptions& options);

// Compares outputs at the full length (the last 48 rows of the first head) and gradients at length 384 with float64.
void Check(const Problem& problem, const AttentionOptions& options);
void Require(bool right, const std::string& what);

void RunCorrectness(Report& report);                      // correctness.cc: the paper's example, errors against float64
void RunSpeed(const Settings& settings, Report& report);  // speed.cc: against sgemm, composed operations, SDPA
void RunShapes(const Settings& settings, Report& report);  // speed.cc: the kernels against sgemm and SDPA by shape
void RunLoop(const Settings& settings,
             Report& report);  // speed.cc: TRA forward + backward and nothing else, to profile
void RunStop(const Settings& settings, Report& report);    // stop.cc: what the early stop saves, by gate and density
void RunMemory(const Settings& settings, Report& report);  // memory.cc: needed beyond inputs and outputs
void RunDecode(const Settings& settings, Report& report);  // decode.cc: against reading the same bytes

}  // namespace tra::bench

#endif  // TRA_BENCH_BENCH_H_
