// Draws random attention problems, and runs the kernels and the reference on them.
#ifndef TRA_TESTS_KERNELS_PROBLEM_H_
#define TRA_TESTS_KERNELS_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/rules.h"

namespace tra::testing {

enum class Layout : uint8_t { kHeadFirst, kTokenFirst };  // [B,H,T,d] or a view of [B,T,H,d]

struct Result {
  std::vector<double> out;
  std::vector<double> d_q, d_k, d_v, d_input;  // empty unless the backward ran
  std::vector<int32_t> first_key;
};

// Names a part of the attention matrix, and holds what AttentionRows says about it, [B,H,queries,keys] or
// [B,H,queries].
struct Rectangle {
  size_t first_query = 0, queries = 0, first_key = 0, keys = 0;
};
struct RowsResult {
  std::vector<uint8_t> state;
  std::vector<double> score, position, term, logit, weight, unseen;
  std::vector<int32_t> stopped_at;
};

// Holds inputs as doubles that hold fp32 values, so that both precisions see the same problem.
struct Problem {
  AttentionShape shape;
  AttentionOptions options;
  Layout layout = Layout::kHeadFirst;
  std::vector<double> q, k, v, d_out;  // [B,H,T,d]
  std::vector<double> input;           // the rule's input, see ScoreRule

  // Draws normal inputs; gates are logs of sigmoid(N(2,1)). Rules with a table get a short one where the shape has
  // none.
  Problem(const AttentionShape& shape, const AttentionOptions& options, uint32_t seed = 1);

  size_t Heads() const { return shape.batch * shape.heads; }
  // Returns the shape [batch, head, row, channel] of the rule's input.
  std::array<size_t, 4> InputShape() const;
  void SetLogGate(double value) { input.assign(input.size(), value); }

  // Run the SIMD kernels, on outputs that are filled with NaN first.
  Result Forward(size_t workers = 2) const;
  Result Both(size_t workers = 2) const;
  Result Decode(size_t workers = 2) const;

  RowsResult Rows(const Rectangle& part, size_t workers = 2) const;
  RowsResult RowsReference(const Rectangle& part, const std::vector<uint8_t>& keep = {}) const;
  Rectangle Whole() const { return {0, shape.queries, 0, shape.keys}; }

  // Runs the plain float64 loops, under the mask `keep` where it is not empty.
  Result Reference(const std::vector<uint8_t>& keep = {}, bool backward = false) const;

  // Returns which keys the kernel keeps, [B,H,Tq,Tk], seen through one-hot values.
  std::vector<uint8_t> KernelMask() const;
  // Returns q.k / sqrt(d) in float64, after QK-norm where that is on.
  double Score(size_t head, size_t i, size_t j) const;
};

double MaxError(const std::vector<double>& a, const std::vector<double>& b);  // NaN in both counts as equal
double MaxAbs(const std::vector<double>& a);
bool BitEqual(const std::vector<double>& a, const std::vector<double>& b);

// Checks that the mask differs from float64's only where rounding can decide; returns how often it does.
size_t CheckMask(const Problem& problem, const std::vector<uint8_t>& mask);

// Compares the kernel with the reference under the kernel's mask: outputs, and gradients if `backward`.
void ExpectMatchesReference(const Problem& problem, bool backward);

}  // namespace tra::testing

#endif  // TRA_TESTS_KERNELS_PROBLEM_H_
