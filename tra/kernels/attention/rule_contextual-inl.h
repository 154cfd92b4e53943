// Contextual positions: every key adds its gate sigmoid(s) to the position of itself and of all keys behind it.
#if defined(TRA_KERNELS_ATTENTION_RULE_CONTEXTUAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULE_CONTEXTUAL_INL_H_
#undef TRA_KERNELS_ATTENTION_RULE_CONTEXTUAL_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULE_CONTEXTUAL_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/log2.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

struct ContextualRule : SoftmaxRule {
  static constexpr RuleInfo kInfo = InfoOf(ScoreRule::kContextual);
  static constexpr bool kNeedsTotals = true;

  static size_t InputStride(const AttentionShape& shape) { return PackedStride(shape.table); }
  static size_t TableFloats(const AttentionShape& shape) { return RoundUp(shape.table, 4) * kTile; }

  class Call : public SoftmaxRule::Call {
   public:
    Call(const AttentionShape& shape, const Rows<const float>& z) : SoftmaxRule::Call(shape, z), z_(z) {}
    HeadRows<const float> Head(size_t batch, size_t head) const { return OfHead(z_, batch, head); }

   private:
    Rows<const float> z_;
  };

  struct Tile {
    explicit Tile(const AttentionShape& shape) : table(shape.table), z_t(AllocateFloats(TableFloats(shape))) {}

    void Begin(const Call& call, const Scoring& /*scoring*/, const TilePlace& place, float* rows) {
      PackQueries(call.Head(place.batch, place.head), place.first, place.queries, table, PackedStride(table), Norm(),
                  rows, z_t.get(), nullptr);
      for (size_t p = 0; p < table; ++p) {
        for (size_t lane = 0; lane < place.queries; ++lane) z_t[p * kTile + lane] *= static_cast<float>(kLog2E);
      }
      std::fill_n(position, kTile, 0.0f);
    }

    size_t table;
    Floats z_t;                       // [table][kTile], in units of log2
    HWY_ALIGN float position[kTile];  // sum of the gates so far
  };

  struct Walk {
    static constexpr bool kEveryRow = true;

    Walk(const Tile& tile, const Block& /*block*/, size_t v)
        : position(hn::Load(DF(), tile.position + v * kLanes)),
          last(hn::Set(DF(), static_cast<float>(tile.table) - 1.0f)),
          gate(hn::Zero(DF())),
          at(gate),
          low(gate),
          slope(gate),
          term(gate),
          z_t(tile.z_t.get()),
          first_lane(v * kLanes) {}

    HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& /*keys*/, size_t /*r*/) {
      const DF df;
      const hn::RebindToSigned<DF> di;
      const VF one = hn::Set(df, 1.0f), smallest = hn::Set(df, -120.0f);
      const VF x = hn::Mul(s, scale);
      gate = hn::Div(one, hn::Add(one, Exp2(hn::Neg(hn::IfThenElse(hn::Lt(x, smallest), smallest, x)))));
      const VF p = hn::Add(position, gate);
      at = hn::IfThenElse(hn::Lt(p, last), p, last);  // `last` also where p is NaN, because it becomes an index
      low = hn::Floor(at);
      const auto lanes = CountFrom(di, static_cast<int32_t>(first_lane));
      const auto row = hn::Set(di, static_cast<int32_t>(kTile));
      const auto z_at = [&](VF index) HWY_ATTR {
        return hn::GatherIndex(df, z_t, hn::Add(hn::Mul(hn::ConvertTo(di, index), row), lanes));
      };
      const VF z = z_at(low);
      slope = hn::Sub(z_at(hn::Ceil(at)), z);
      term = hn::MulAdd(slope, hn::Sub(at, low), z);
      return hn::Add(term, hn::Add(x, offset));
    }
    HWY_INLINE LogitParts Parts(VF /*distance*/, const KeyRows& /*keys*/, size_t /*r*/) const { return {at, term}; }
    HWY_INLINE void Next(MF drop) { position = hn::Add(position, hn::IfThenZeroElse(drop, gate)); }
    void Save(Tile& tile, size_t v) const { hn::Store(position, DF(), tile.position + v * kLanes); }

    VF position, last;
    VF gate, at, low, slope, term;  // those of the current key
    const float* z_t;
    size_t first_lane;
  };

  // The gradient of a key's gate is the sum of the gradients of its position and of those of the keys behind it, which
  // the walk has not seen yet. It is computed as the total, from an earlier walk (TotalsWalk), minus what has been
  // seen.
  struct GradTile : Tile {
    enum Carried : size_t { kPosition, kSeen, kTotal, kCarried };  // what a query carries from phase to phase

    explicit GradTile(const AttentionShape& shape) : Tile(shape), d_z_t(AllocateFloats(TableFloats(shape))) {}

    void Begin(const Call& call, const Scoring& scoring, const TilePlace& place, float* rows) {
      Tile::Begin(call, scoring, place, rows);
      std::memset(d_z_t.get(), 0, RoundUp(table, 4) * kTile * sizeof(float));
      std::fill_n(seen, kTile, 0.0f);
      std::fill_n(total, kTile, 0.0f);
    }
    // What the first walk has seen by its end is the total of the second.
    void Restore(size_t lane, const float* carried, bool first_phase) {
      position[lane] = first_phase ? 0.0f : carried[kPosition];
      seen[lane] = first_phase ? 0.0f : carried[kSeen];
      total[lane] = first_phase ? carried[kSeen] : carried[kTotal];
    }
    void Keep(size_t lane, float* carried) const {
      carried[kPosition] = position[lane];
      carried[kSeen] = seen[lane];
      carried[kTotal] = total[lane];
    }
    void Store(const Rows<float>& d_z, const TilePlace& place, bool overwrite) const {
      for (size_t lane = 0; lane < place.queries; ++lane) {
        float* row = d_z(place.batch, place.head, place.first + lane);
        for (size_t p = 0; p < table; ++p) row[p] = d_z_t[p * kTile + lane] + (overwrite ? 0.0f : row[p]);
      }
    }

    Floats d_z_t;                  // [table][kTile]
    HWY_ALIGN float seen[kTile];   // sum of the gradients of the positions so far
    HWY_ALIGN float total[kTile];  // sum of the gradients of all positions
  };

  struct TotalsWalk : Walk {
    TotalsWalk(const GradTile& tile, const GradBlock& block, size_t v)
        : Walk(tile, block, v), seen(hn::Load(DF(), tile.seen + v * kLanes)) {}

    HWY_INLINE VF Grad(VF d_logit, MF drop, const KeyRows& /*keys*/, size_t /*r*/) {
      seen = hn::Add(seen, PositionGrad(d_logit, drop));
      return d_logit;
    }
    // forward: logit += z at p   so: d_p = d_logit * slope
    HWY_INLINE VF PositionGrad(VF d_logit, MF drop) const {
      return hn::IfThenZeroElse(drop, hn::Mul(d_logit, hn::Mul(slope, hn::Set(DF(), static_cast<float>(kLn2)))));
    }
    void Save(GradTile& tile, size_t v) const {
      Walk::Save(tile, v);
      hn::Store(seen, DF(), tile.seen + v * kLanes);
    }

    VF seen;
  };

  struct GradWalk : TotalsWalk {
    GradWalk(const GradTile& tile, const GradBlock& block, size_t v)
        : TotalsWalk(tile, block, v), total(hn::Load(DF(), tile.total + v * kLanes)), d_z_t(tile.d_z_t.get()) {}

    HWY_INLINE VF Grad(VF d_logit, MF drop, const KeyRows& /*keys*/, size_t /*r*/) {
      const VF d_gate = hn::Sub(total, seen);
      seen = hn::Add(seen, PositionGrad(d_logit, drop));
      Scatter(d_logit);
      const VF d_sigmoid = hn::Mul(gate, hn::NegMulAdd(gate, d_gate, d_gate));
      return hn::Add(d_logit, hn::IfThenZeroElse(drop, d_sigmoid));
    }

    // forward: logit += (1 - w) * z[low] + w * z[low + 1], w = at - low
    HWY_INLINE void Scatter(VF d_logit) const {
      const DF df;
      if (hn::AllTrue(df, hn::Ge(low, last))) {  // far keys: all lanes use the last position
        float* to = d_z_t + static_cast<size_t>(hn::GetLane(last)) * kTile + first_lane;
        hn::Store(hn::Add(hn::Load(df, to), d_logit), df, to);
        return;
      }
      HWY_ALIGN float d[kLanes], index[kLanes], weight[kLanes];
      hn::Store(d_logit, df, d);
      hn::Store(low, df, index);
      hn::Store(hn::Sub(at, low), df, weight);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if (d[lane] == 0.0f) continue;  // a key of the future may have NaN for a weight
        float* to = d_z_t + static_cast<size_t>(index[lane]) * kTile + first_lane + lane;
        to[0] += d[lane] * (1.0f - weight[lane]);
        if (weight[lane] != 0.0f) to[kTile] += d[lane] * weight[lane];
      }
    }

    VF total;
    float* d_z_t;
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULE_CONTEXTUAL_INL_H_
