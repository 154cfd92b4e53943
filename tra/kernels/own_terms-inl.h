// A rule's own input, turned once a call into what a block of keys needs of it.
#if defined(TRA_KERNELS_OWN_TERMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_OWN_TERMS_INL_H_
#undef TRA_KERNELS_OWN_TERMS_INL_H_
#else
#define TRA_KERNELS_OWN_TERMS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tra/kernels/rules-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// A gate of exactly 0 has log -inf. No softmax in fp32 tells this one from it, and sums of it stay exact enough.
constexpr double kStrongestForget2 = -16384.0;

class OwnTerms {
 public:
  OwnTerms(const AttentionShape& shape, const AttentionOptions& options, const Rows<const float>& own)
      : shape_(shape), rule_(options.rule) {
    if (rule_ == ScoreRule::kForget) {
      forgotten2_.resize(shape.batch * shape.heads * shape.keys);
      for (size_t head = 0; head < shape.batch * shape.heads; ++head) {
        // In float64: differences of these sums must be good to fp32 wherever in the sequence they are taken.
        double sum = 0.0;  // the gate of the first position lies between no pair
        for (size_t key = 1; key < shape.keys; ++key) {
          const double log2_gate = *own(head / shape.heads, head % shape.heads, key) * Scoring::kLog2E;
          sum += log2_gate < kStrongestForget2 ? kStrongestForget2 : log2_gate;
          forgotten2_[head * shape.keys + key] = sum;
        }
      }
    }
    if (rule_ == ScoreRule::kDistance) {
      // Negative distances are those of keys a lane does not see; lanes not in use reach past the longest.
      stride_ = shape.keys + 2 * kTile;
      bias2_.resize(shape.heads * stride_);
      for (size_t head = 0; head < shape.heads; ++head) {
        for (size_t d = 0; d < shape.keys + kTile; ++d) {
          bias2_[head * stride_ + kTile + d] =
              *own(0, head, std::min(d, shape.table - 1)) * static_cast<float>(Scoring::kLog2E);
        }
      }
    }
  }

  // KeyRows::terms of kForget (written to `buffer`, one per key) and kDistance.
  const float* Block(size_t batch, size_t head, size_t first_key, size_t rows, size_t first_position,
                     float* HWY_RESTRICT buffer) const {
    if (rule_ == ScoreRule::kForget) {
      const double* sums = Sums(batch, head);
      for (size_t r = 0; r < rows; ++r) buffer[r] = static_cast<float>(sums[first_position] - sums[first_key + r]);
      return buffer;
    }
    if (rule_ == ScoreRule::kDistance) return Biases(head) + first_position - first_key;
    return nullptr;
  }

  // kForget: TileLanes::gate2 and KeyRows::near of a tile. Keys that a lane does not see add what does not matter.
  void Tile(size_t batch, size_t head, size_t first_position, size_t queries, float* HWY_RESTRICT from_first,
            float* HWY_RESTRICT near) const {
    const double* sums = Sums(batch, head) + first_position;
    for (size_t lane = 0; lane < kTile; ++lane) {
      for (size_t key = 0; key < kTile; ++key) {
        const bool sees = lane < queries && key <= lane;
        near[key * kTile + lane] = sees ? static_cast<float>(sums[lane] - sums[key]) : 0.0f;
      }
      from_first[lane] = near[lane];
    }
  }

  // What a single pair adds.
  float Pair(size_t batch, size_t head, size_t position, size_t key) const {
    if (rule_ == ScoreRule::kForget) {
      return static_cast<float>(Sums(batch, head)[position] - Sums(batch, head)[key]);
    }
    return rule_ == ScoreRule::kDistance ? Biases(head)[position - key] : 0.0f;
  }

 private:
  const double* Sums(size_t batch, size_t head) const {
    return forgotten2_.data() + (batch * shape_.heads + head) * shape_.keys;
  }
  const float* Biases(size_t head) const { return bias2_.data() + head * stride_ + kTile; }

  const AttentionShape& shape_;
  ScoreRule rule_;
  std::vector<double> forgotten2_;  // [batch, head, key]: sum of log2 gates from position 1 to the key
  std::vector<float> bias2_;        // [head, kTile + distance]
  size_t stride_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_OWN_TERMS_INL_H_
