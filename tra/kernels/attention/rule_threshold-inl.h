// Threshold Relative Attention: a key that does not score above zero is dropped; every key kept pushes the ones behind
// it one gate further away.
#if defined(TRA_KERNELS_ATTENTION_RULE_THRESHOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULE_THRESHOLD_INL_H_
#undef TRA_KERNELS_ATTENTION_RULE_THRESHOLD_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULE_THRESHOLD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/attention/stop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// A gate of exactly 0 has log -inf. This finite value replaces it, so that 0 * decay is 0 for the nearest key; times
// any count it stays above kLowest.
constexpr float kStrongestGateLog2 = -1e20f;

struct ThresholdRule : SoftmaxRule {
  static constexpr RuleInfo kInfo = InfoOf(ScoreRule::kThreshold);

  class Call : public SoftmaxRule::Call {
   public:
    Call(const AttentionShape& shape, const Rows<const float>& log_gate)
        : SoftmaxRule::Call(shape, log_gate), log_gate_(log_gate) {}

    float GateLog2(size_t batch, size_t head, size_t query) const {
      const float gate_log2 = *log_gate_(batch, head, query) * static_cast<float>(kLog2E);
      return gate_log2 < kStrongestGateLog2 ? kStrongestGateLog2 : gate_log2;
    }

   private:
    Rows<const float> log_gate_;
  };

  struct Tile {
    explicit Tile(const AttentionShape& /*shape*/) {}

    void Begin(const Call& call, const Scoring& scoring, const TilePlace& place, float* /*rows*/) {
      std::fill_n(gate_log2, kTile, 0.0f);
      for (size_t lane = 0; lane < place.queries; ++lane) {
        gate_log2[lane] = call.GateLog2(place.batch, place.head, place.first + lane);
      }
      // Counting from 0 or from 1 is the same to a softmax, and 0 leaves the nearest key undecayed however strong the
      // gate; but logit dropout sets logits to an unshifted 0, so with it the paper's 1 matters.
      std::fill_n(count, kTile, scoring.dropout == DropoutOn::kLogits ? 1.0f : 0.0f);
      geometric_known = false;
    }

    // Returns whether what the `keys_left` unseen keys can still add is negligible to every query. No later score
    // exceeds query_bound_log2[lane] * longest_key.
    bool MayStop(const StopTest& stop, const Scoring& scoring, const TilePlace& place, const float* query_bound_log2,
                 float longest_key, const float* max_log2, const float* sum, size_t keys_left) {
      const DF df;
      const float logit_scale = scoring.LogitScale();
      if (!geometric_known) {
        for (size_t lane = 0; lane < kTile; ++lane) geometric_sum[lane] = GeometricSum(gate_log2[lane] * logit_scale);
        geometric_known = true;
      }
      for (size_t v = 0; v < kVecs; ++v) {
        const size_t at = v * kLanes;
        const VF bound = hn::Mul(hn::Load(df, query_bound_log2 + at), hn::Set(df, longest_key));
        const VF largest = hn::MulAdd(hn::Load(df, count + at), hn::Load(df, gate_log2 + at), bound);
        const VF relative = hn::Sub(hn::Mul(largest, hn::Set(df, logit_scale)), hn::Load(df, max_log2 + at));
        const MF done = stop.Negligible(df, relative, hn::Load(df, geometric_sum + at),
                                        hn::Set(df, static_cast<float>(keys_left)), hn::Load(df, sum + at));
        const MF absent = hn::Ge(CountFrom(df, static_cast<float>(at)), hn::Set(df, static_cast<float>(place.queries)));
        if (!hn::AllTrue(df, hn::Or(done, absent))) return false;
      }
      return true;
    }

    // Returns a bound on what the `keys_left` unseen keys weigh together, as a share of the row's sum. No later score
    // exceeds bound_log2. This is what MayStop compares with stop_eps, for one query.
    float UnseenShare(size_t lane, float bound_log2, float log2_sum, size_t keys_left) const {
      const float largest = std::exp2(count[lane] * gate_log2[lane] + bound_log2 - log2_sum);
      return largest * std::min(static_cast<float>(keys_left), GeometricSum(gate_log2[lane]));
    }

    HWY_ALIGN float gate_log2[kTile];
    HWY_ALIGN float count[kTile];          // the count of the next kept key
    HWY_ALIGN float geometric_sum[kTile];  // see GeometricSum; computed when the first block is done
    bool geometric_known = false;
  };

  struct Walk {
    static constexpr bool kEveryRow = true;

    Walk(const Tile& tile, const Block& /*block*/, size_t v)
        : gate_log2(hn::Load(DF(), tile.gate_log2 + v * kLanes)), count(hn::Load(DF(), tile.count + v * kLanes)) {}
    HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& /*keys*/, size_t /*r*/) const {
      return hn::MulAdd(s, scale, hn::MulAdd(count, gate_log2, offset));
    }
    // Counts from 1, as the paper does.
    HWY_INLINE LogitParts Parts(VF /*distance*/, const KeyRows& /*keys*/, size_t /*r*/) const {
      const VF from_one = hn::Add(count, hn::Set(DF(), 1.0f));
      return {from_one, hn::Mul(from_one, gate_log2)};
    }
    HWY_INLINE void Next(MF drop) { count = hn::Add(count, hn::IfThenZeroElse(drop, hn::Set(DF(), 1.0f))); }
    void Save(Tile& tile, size_t v) const { hn::Store(count, DF(), tile.count + v * kLanes); }

    VF gate_log2, count;
  };

  struct GradTile : Tile {
    static constexpr size_t kCarried = 1;

    using Tile::Tile;
    void Begin(const Call& call, const Scoring& scoring, const TilePlace& place, float* rows) {
      Tile::Begin(call, scoring, place, rows);
      std::fill_n(d_gate, kTile, 0.0f);
    }
    void Restore(size_t lane, const float* carried, bool first_phase) {
      if (!first_phase) count[lane] = carried[0];
    }
    void Keep(size_t lane, float* carried) const { carried[0] = count[lane]; }
    void Store(const Rows<float>& d_log_gate, const TilePlace& place, bool overwrite) const {
      for (size_t lane = 0; lane < place.queries; ++lane) {
        AddRow(d_gate + lane, 1, 1.0f, overwrite, d_log_gate(place.batch, place.head, place.first + lane));
      }
    }

    HWY_ALIGN float d_gate[kTile];  // gradient of the log gate from these keys
  };

  struct GradWalk : Walk {
    GradWalk(const GradTile& tile, const GradBlock& block, size_t v)
        : Walk(tile, block, v), d_gate(hn::Load(DF(), tile.d_gate + v * kLanes)) {}
    // forward: logit += count * gate   so: d_gate += d_logit * count
    HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& /*keys*/, size_t /*r*/) {
      d_gate = hn::MulAdd(d_logit, count, d_gate);
      return d_logit;
    }
    void Save(GradTile& tile, size_t v) const {
      Walk::Save(tile, v);
      hn::Store(d_gate, DF(), tile.d_gate + v * kLanes);
    }

    VF d_gate;
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULE_THRESHOLD_INL_H_
