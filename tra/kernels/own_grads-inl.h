// Gradients of those inputs of rules that many queries share: by key (kForget) or by distance (kDistance).
#if defined(TRA_KERNELS_OWN_GRADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_OWN_GRADS_INL_H_
#undef TRA_KERNELS_OWN_GRADS_INL_H_
#else
#define TRA_KERNELS_OWN_GRADS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tra/kernels/layout.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Follows the backward's walk over diagonals of chunks. Tasks of a phase share no key, so each adds to the sums of its
// own keys; they share distances, so each has a window of its own, wide enough for those of one phase, and the windows
// are added up in a fixed order after it.
class OwnGrads {
 public:
  OwnGrads(const AttentionShape& shape, const AttentionOptions& options, size_t chunk, size_t query_chunks)
      : shape_(shape), rule_(options.rule), chunk_(chunk), query_chunks_(query_chunks) {
    const size_t heads = shape.batch * shape.heads;
    if (rule_ == ScoreRule::kForget) key_sums_.resize(heads * shape.keys);
    if (rule_ == ScoreRule::kDistance) {
      window_ = 2 * chunk + 3 * kTile;
      windows_.resize(heads * query_chunks * window_);
      biases_.resize(shape.heads * shape.table);
    }
  }

  // Where the task of this phase finds KeyRows::d_terms for a key and query at distance 0.
  float* Window(size_t batch, size_t head, size_t chunk, size_t phase) {
    if (rule_ != ScoreRule::kDistance) return nullptr;
    return windows_.data() + ((batch * shape_.heads + head) * query_chunks_ + chunk) * window_ - FirstDistance(phase);
  }

  // Adds d_terms of ForgetRule, [rows][kLanes]: the gradient of these keys' logits, for Store.
  void AddKeys(size_t batch, size_t head, size_t first_key, size_t rows, const float* HWY_RESTRICT d_terms) {
    const DF df;
    double* sums = key_sums_.data() + (batch * shape_.heads + head) * shape_.keys + first_key;
    for (size_t r = 0; r < rows; ++r) {
      sums[r] += static_cast<double>(hn::GetLane(hn::SumOfLanes(df, hn::Load(df, d_terms + r * kLanes))));
    }
  }

  void EndPhase(size_t phase) {
    if (rule_ != ScoreRule::kDistance) return;
    const ptrdiff_t first = FirstDistance(phase);
    for (size_t i = 0; i < shape_.batch * shape_.heads * query_chunks_; ++i) {
      double* to = biases_.data() + i / query_chunks_ % shape_.heads * shape_.table;
      float* window = windows_.data() + i * window_;
      for (size_t w = static_cast<size_t>(std::max<ptrdiff_t>(0, -first)); w < window_; ++w) {
        to[std::min(static_cast<size_t>(first + static_cast<ptrdiff_t>(w)), shape_.table - 1)] +=
            static_cast<double>(window[w]);
      }
      std::memset(window, 0, window_ * sizeof(float));
    }
  }

  void Store(const Rows<float>& d_own) const {
    if (rule_ == ScoreRule::kDistance) {
      for (size_t head = 0; head < shape_.heads; ++head) {
        for (size_t d = 0; d < shape_.table; ++d) {
          *d_own(0, head, d) = static_cast<float>(biases_[head * shape_.table + d]);
        }
      }
    }
    if (rule_ != ScoreRule::kForget) return;
    // forward: logit += sum of log f over j+1..i   so: d log f_l = the sum of d_logit over all i >= l > j. A row's
    // d_logit add up to 0, so this is the sum over all i and over j < l.
    for (size_t head = 0; head < shape_.batch * shape_.heads; ++head) {
      double sum = 0.0;
      for (size_t key = 0; key < shape_.keys; ++key) {
        *d_own(head / shape_.heads, head % shape_.heads, key) = static_cast<float>(sum);
        sum += key_sums_[head * shape_.keys + key];
      }
    }
  }

 private:
  // Queries of a chunk and keys of the one `phase` to its left are at least this far apart, less a tile for lanes that
  // do not see a key.
  ptrdiff_t FirstDistance(size_t phase) const {
    return static_cast<ptrdiff_t>(phase * chunk_) - static_cast<ptrdiff_t>(chunk_ + kTile);
  }

  const AttentionShape& shape_;
  ScoreRule rule_;
  size_t chunk_, query_chunks_;
  size_t window_ = 0;
  std::vector<double> key_sums_;  // [batch, head, key]: sum of d_logit over the queries
  std::vector<float> windows_;    // [batch, head, chunk, window_]
  std::vector<double> biases_;    // [head, table]
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_OWN_GRADS_INL_H_
