// Forgetting: every position multiplies the weights of all keys before it by a gate.
#if defined(TRA_KERNELS_ATTENTION_RULE_FORGET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULE_FORGET_INL_H_
#undef TRA_KERNELS_ATTENTION_RULE_FORGET_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULE_FORGET_INL_H_
#endif

#include <cstddef>
#include <cstring>
#include <vector>

#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/log2.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// A gate of exactly 0 has log -inf. This value replaces it: no softmax in fp32 can tell them apart, and sums of it stay
// exact enough.
constexpr double kStrongestForgetLog2 = -16384.0;

struct ForgetRule : SoftmaxRule {
  static constexpr RuleInfo kInfo = InfoOf(ScoreRule::kForget);
  static constexpr bool kPairTerms = true;

  class Call : public SoftmaxRule::Call {
   public:
    Call(const AttentionShape& shape, const Rows<const float>& log_forget)
        : SoftmaxRule::Call(shape, log_forget), shape_(shape), sums_log2_(shape.AllKeys()) {
      for (size_t i = 0; i < shape.batch * shape.heads; ++i) {
        const size_t batch = i / shape.heads, head = i % shape.heads;
        double* sums = sums_log2_.data() + shape.KeyIndex(batch, head, 0);
        // In float64, because differences of these sums must be accurate to fp32 wherever in the sequence they are
        // taken.
        double sum = 0.0;  // the gate of the first position lies between no query and key
        for (size_t key = 1; key < shape.Keys(batch); ++key) {
          const double gate_log2 = *log_forget(batch, head, key) * kLog2E;
          sum += gate_log2 < kStrongestForgetLog2 ? kStrongestForgetLog2 : gate_log2;
          sums[key] = sum;
        }
      }
    }

    // Returns the sums of log2 gates from position 1 to each position of a head.
    const double* Sums(size_t batch, size_t head) const { return sums_log2_.data() + shape_.KeyIndex(batch, head, 0); }
    float PairTerm(size_t batch, size_t head, size_t position, size_t key) const {
      return static_cast<float>(Sums(batch, head)[position] - Sums(batch, head)[key]);
    }

   private:
    AttentionShape shape_;
    std::vector<double> sums_log2_;  // [batch, head, key]
  };

  struct Tile {
    explicit Tile(const AttentionShape& /*shape*/) : near(AllocateFloats(kTile * kTile)) {}

    // Sets the terms of keys that a lane does not see to 0; their value does not matter.
    void Begin(const Call& call, const Scoring& /*scoring*/, const TilePlace& place, float* /*rows*/) {
      const double* sums = call.Sums(place.batch, place.head) + place.first_position;
      for (size_t lane = 0; lane < kTile; ++lane) {
        for (size_t key = 0; key < kTile; ++key) {
          const bool sees = lane < place.queries && key <= lane;
          near[key * kTile + lane] = sees ? static_cast<float>(sums[lane] - sums[key]) : 0.0f;
        }
        from_first[lane] = near[lane];
      }
    }

    HWY_ALIGN float from_first[kTile];  // sum of the log2 gates from the tile's first query to the lane's
    // [key][lane]: the same from each of the tile's positions on. For a key at one of these positions, a block's term
    // and from_first would cancel, and with strong gates lose all precision.
    Floats near;
  };

  struct Block {
    explicit Block(const AttentionShape& /*shape*/) : terms(AllocateFloats(kKeyBlock)) {}

    void Begin(const Call& call, const TilePlace& place, size_t first_key, size_t rows) {
      const double* sums = call.Sums(place.batch, place.head);
      for (size_t r = 0; r < rows; ++r) {
        terms[r] = static_cast<float>(sums[place.first_position] - sums[first_key + r]);
      }
    }

    Floats terms;  // sum of the log2 gates between each key and the tile's first query
  };

  struct Walk {
    static constexpr bool kEveryRow = false;

    Walk(const Tile& tile, const Block& block, size_t v)
        : terms(block.terms.get()),
          near(tile.near.get() + v * kLanes),
          from_first(hn::Load(DF(), tile.from_first + v * kLanes)) {}
    HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& keys, size_t r) const {
      return hn::MulAdd(s, scale, hn::Add(offset, Term(keys, r)));
    }
    HWY_INLINE LogitParts Parts(VF distance, const KeyRows& keys, size_t r) const { return {distance, Term(keys, r)}; }
    HWY_INLINE VF Term(const KeyRows& keys, size_t r) const {
      const ptrdiff_t ahead = static_cast<ptrdiff_t>(keys.first_key + keys.Offset(r)) - keys.first_position;
      return ahead > 0 ? hn::Load(DF(), near + static_cast<size_t>(ahead) * kTile)
                       : hn::Add(from_first, hn::Set(DF(), terms[keys.Offset(r)]));
    }
    HWY_INLINE void Next(MF /*drop*/) const {}
    void Save(Tile& /*tile*/, size_t /*v*/) const {}

    const float* terms;
    const float* near;
    VF from_first;
  };

  // Sums the gradients of the gates. Tasks of a phase share no key, so each adds to the sums of its own keys.
  class Gradients {
   public:
    Gradients(const AttentionShape& shape, const ChunkPlan& /*plan*/) : shape_(shape), key_sums_(shape.AllKeys()) {}

    // Adds the gradients of the logits of these keys, [rows][kLanes].
    void AddKeys(const TilePlace& place, size_t first_key, size_t rows, const float* HWY_RESTRICT d_terms) {
      const DF df;
      double* sums = key_sums_.data() + shape_.KeyIndex(place.batch, place.head, first_key);
      for (size_t r = 0; r < rows; ++r) {
        sums[r] += static_cast<double>(hn::GetLane(hn::SumOfLanes(df, hn::Load(df, d_terms + r * kLanes))));
      }
    }

    void EndPhase(const std::vector<ChunkPlace>& /*done*/) {}

    // forward: logit += sum of log f over j+1..i   so: d log f_l = the sum of d_logit over all i >= l > j. A row's
    // d_logit add up to 0, so this is the sum over all i and over j < l.
    void Store(const Rows<float>& d_log_forget) const {
      for (size_t i = 0; i < shape_.batch * shape_.heads; ++i) {
        const size_t batch = i / shape_.heads, head = i % shape_.heads;
        double sum = 0.0;
        for (size_t key = 0; key < shape_.Keys(batch); ++key) {
          *d_log_forget(batch, head, key) = static_cast<float>(sum);
          sum += key_sums_[shape_.KeyIndex(batch, head, key)];
        }
      }
    }

   private:
    AttentionShape shape_;
    std::vector<double> key_sums_;  // [batch, head, key]: sum of d_logit over the queries
  };

  using GradTile = PlainGradTile<Tile>;

  struct GradBlock : Block {
    explicit GradBlock(const AttentionShape& shape) : Block(shape), d_terms(AllocateFloats(kKeyBlock * kLanes)) {}

    void BeginGrad(Gradients& /*gradients*/, const TilePlace& /*place*/, const ChunkPlace& /*chunk*/,
                   size_t /*first_key*/, size_t rows) {
      std::memset(d_terms.get(), 0, rows * kLanes * sizeof(float));
    }
    void EndGrad(Gradients& gradients, const TilePlace& place, size_t first_key, size_t rows) const {
      gradients.AddKeys(place, first_key, rows, d_terms.get());
    }

    Floats d_terms;  // [key][kLanes]: the sum over the lanes is the gradient of a key's logits
  };

  struct GradWalk : Walk {
    static constexpr bool kEveryRow = true;

    GradWalk(const GradTile& tile, const GradBlock& block, size_t v)
        : Walk(tile, block, v), d_terms(block.d_terms.get()) {}
    HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& keys, size_t r) const {
      float* HWY_RESTRICT to = d_terms + keys.Offset(r) * kLanes;
      hn::Store(hn::Add(hn::Load(DF(), to), d_logit), DF(), to);
      return d_logit;
    }
    void Save(GradTile& /*tile*/, size_t /*v*/) const {}

    float* d_terms;
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULE_FORGET_INL_H_
