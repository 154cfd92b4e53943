// Adds a learned bias by distance. Neighbouring queries find theirs side by side in memory.
#if defined(TRA_KERNELS_ATTENTION_RULE_DISTANCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULE_DISTANCE_INL_H_
#undef TRA_KERNELS_ATTENTION_RULE_DISTANCE_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULE_DISTANCE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/log2.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

struct DistanceRule : SoftmaxRule {
  static constexpr RuleInfo kInfo = InfoOf(ScoreRule::kDistance);
  static constexpr bool kPairTerms = true;

  class Call : public SoftmaxRule::Call {
   public:
    // Leaves room for negative distances, of keys that a lane does not see, and past the longest one, for lanes not in
    // use.
    Call(const AttentionShape& shape, const Rows<const float>& bias)
        : SoftmaxRule::Call(shape, bias), stride_(shape.keys + 2 * kTile), bias_log2_(shape.heads * stride_) {
      for (size_t head = 0; head < shape.heads; ++head) {
        for (size_t d = 0; d < shape.keys + kTile; ++d) {
          bias_log2_[head * stride_ + kTile + d] =
              *bias(0, head, std::min(d, shape.table - 1)) * static_cast<float>(kLog2E);
        }
      }
    }

    // Returns the biases of a head by distance, from -kTile on.
    const float* Biases(size_t head) const { return bias_log2_.data() + head * stride_ + kTile; }
    float PairTerm(size_t /*batch*/, size_t head, size_t position, size_t key) const {
      return Biases(head)[position - key];
    }

   private:
    size_t stride_;
    std::vector<float> bias_log2_;  // [head, kTile + distance]
  };

  struct Block {
    explicit Block(const AttentionShape& /*shape*/) {}
    void Begin(const Call& call, const TilePlace& place, size_t first_key, size_t /*rows*/) {
      biases = call.Biases(place.head);
      distance = static_cast<ptrdiff_t>(place.first_position) - static_cast<ptrdiff_t>(first_key);
    }

    const float* biases = nullptr;  // by distance
    ptrdiff_t distance = 0;         // between the tile's first query and the block's first key
  };

  struct Walk {
    static constexpr bool kEveryRow = false;

    Walk(const Tile& /*tile*/, const Block& block, size_t v)
        : biases(block.biases), distance(block.distance + static_cast<ptrdiff_t>(v * kLanes)) {}
    HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& keys, size_t r) const {
      return hn::MulAdd(s, scale, hn::Add(offset, Bias(keys, r)));
    }
    HWY_INLINE LogitParts Parts(VF distance, const KeyRows& keys, size_t r) const { return {distance, Bias(keys, r)}; }
    HWY_INLINE VF Bias(const KeyRows& keys, size_t r) const { return hn::LoadU(DF(), biases + Distance(keys, r)); }
    HWY_INLINE void Next(MF /*drop*/) const {}
    void Save(Tile& /*tile*/, size_t /*v*/) const {}

    // Returns the distance between the first lane and key row r.
    HWY_INLINE ptrdiff_t Distance(const KeyRows& keys, size_t r) const {
      return distance - static_cast<ptrdiff_t>(keys.Offset(r));
    }

    const float* biases;
    ptrdiff_t distance;
  };

  // Sums the gradients of the biases. Tasks of a phase share distances, so each task has its own window, wide enough
  // for the distances of one phase, and the windows are added up in a fixed order after the phase.
  class Gradients {
   public:
    Gradients(const AttentionShape& shape, const ChunkPlan& plan)
        : heads_(shape.heads), table_(shape.table), plan_(plan), biases_(shape.heads * shape.table) {
      first_.push_back(0);
      for (size_t b = 0; b < shape.batch; ++b) {
        first_.push_back(first_.back() + plan.Chunks(b) * heads_ * WindowSize(b));
      }
      windows_.resize(first_.back());
    }

    // Returns the window of a task. Its first element is for FirstDistance(place).
    float* Window(const ChunkPlace& place, size_t head) {
      return windows_.data() + first_[place.batch] +
             (head * plan_.Chunks(place.batch) + place.chunk) * WindowSize(place.batch);
    }
    // Returns a lower bound on the distances between queries of a chunk and keys of the chunk `phase` to its left,
    // minus a tile for lanes that do not see a key.
    ptrdiff_t FirstDistance(const ChunkPlace& place) const {
      const auto size = static_cast<ptrdiff_t>(plan_.size[place.batch]);
      return static_cast<ptrdiff_t>(place.phase) * size - size - static_cast<ptrdiff_t>(kTile);
    }

    void EndPhase(const std::vector<ChunkPlace>& done) {
      for (const ChunkPlace& place : done) {
        const ptrdiff_t first = FirstDistance(place);
        const size_t size = WindowSize(place.batch);
        for (size_t head = 0; head < heads_; ++head) {
          double* to = biases_.data() + head * table_;
          float* window = Window(place, head);
          for (size_t w = static_cast<size_t>(std::max<ptrdiff_t>(0, -first)); w < size; ++w) {
            to[std::min(static_cast<size_t>(first + static_cast<ptrdiff_t>(w)), table_ - 1)] +=
                static_cast<double>(window[w]);
          }
          std::memset(window, 0, size * sizeof(float));
        }
      }
    }

    void Store(const Rows<float>& d_bias) const {
      for (size_t head = 0; head < heads_; ++head) {
        for (size_t d = 0; d < table_; ++d) *d_bias(0, head, d) = static_cast<float>(biases_[head * table_ + d]);
      }
    }

   private:
    size_t WindowSize(size_t batch) const { return 2 * plan_.size[batch] + 3 * kTile; }

    size_t heads_, table_;
    const ChunkPlan& plan_;
    std::vector<size_t> first_;   // [batch + 1]: where the windows of a sequence start
    std::vector<float> windows_;  // [batch, head, chunk, WindowSize]
    std::vector<double> biases_;  // [head, table]
  };

  struct GradBlock : Block {
    using Block::Block;
    void BeginGrad(Gradients& gradients, const TilePlace& place, const ChunkPlace& chunk, size_t /*first_key*/,
                   size_t /*rows*/) {
      window = gradients.Window(chunk, place.head);
      first_distance = gradients.FirstDistance(chunk);
    }
    void EndGrad(Gradients& /*gradients*/, const TilePlace& /*place*/, size_t /*first_key*/, size_t /*rows*/) const {}

    float* window = nullptr;  // gradients by distance, from first_distance on
    ptrdiff_t first_distance = 0;
  };

  struct GradWalk : Walk {
    static constexpr bool kEveryRow = true;

    GradWalk(const GradTile& tile, const GradBlock& block, size_t v)
        : Walk(tile, block, v), window(block.window), first_distance(block.first_distance) {}
    HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& keys, size_t r) const {
      float* HWY_RESTRICT to = window + (Distance(keys, r) - first_distance);
      hn::StoreU(hn::Add(hn::LoadU(DF(), to), d_logit), DF(), to);
      return d_logit;
    }
    void Save(GradTile& /*tile*/, size_t /*v*/) const {}

    float* window;
    ptrdiff_t first_distance;
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULE_DISTANCE_INL_H_
