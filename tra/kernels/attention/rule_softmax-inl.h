// Plain causal softmax attention: a rule that adds nothing. Other rules inherit from it what they do not define
// themselves, so its members are the list of what a rule may supply:
//
//   Call       what a call prepares from the rule's input
//   Tile       what a tile of queries carries from one block of keys to the next
//   Block      what a tile needs of a block of keys
//   Walk       one vector of queries walking a block's keys from right to left:
//     Logit(s, scale, offset, keys, r)  returns s * scale + (the rule's terms) + offset, in units of log2
//     Next(drop)                        moves on to the next key; `drop` marks the lanes that did not keep this one
//     Save(tile, v)                     stores what must outlive the block
//     kEveryRow                         whether Next, and Grad of a GradWalk, are called on every row, or only where
//                                       some lanes come before the key
//
// and, for the backward, GradTile, GradBlock and GradWalk, which extend these by gradients of the rule's input:
//     GradWalk::Grad(d_logit, drop, keys, r)  collects them, before Next; returns the gradient of the scaled score,
//                                             which is d_logit unless the rule's terms depend on the score
//     GradTile::Restore, Keep           load and store what a query carries from one chunk of keys to the next
//     GradTile::Store                   writes gradients that belong to the tile's queries
//     GradBlock::BeginGrad, EndGrad     are called before and after the walks of a block
//     TotalsWalk                        collects what GradWalk must know beforehand, if kNeedsTotals
//     Tile::MayStop                     returns whether the walk may end, if kInfo.stops
//     Gradients                         sums the gradients that many queries share in a fixed order, then stores them
#if defined(TRA_KERNELS_ATTENTION_RULE_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULE_SOFTMAX_INL_H_
#undef TRA_KERNELS_ATTENTION_RULE_SOFTMAX_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULE_SOFTMAX_INL_H_
#endif

#include <cstddef>
#include <vector>

#include "tra/kernels/attention/key_rows-inl.h"
#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/rules.h"
#include "tra/kernels/attention/scoring.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Says where a tile of queries is.
struct TilePlace {
  size_t batch = 0, head = 0;
  size_t first = 0;           // query of lane 0
  size_t queries = 0;         // lanes in use
  size_t first_position = 0;  // position of lane 0 among the keys
};

// Returns the rows of a tile's queries, one per lane.
inline HeadRows<float> OfTile(const Rows<float>& rows, const TilePlace& place) {
  return {rows(place.batch, place.head, place.first), rows.row_stride};
}

// Names the sequence, its chunk of queries and the diagonal that a task of the backward works on: see backward.cc.
struct ChunkPlace {
  size_t batch = 0, chunk = 0, phase = 0;
};

// Says how the backward cuts the sequences of a call into chunks.
struct ChunkPlan {
  size_t Chunks(size_t batch) const { return first[batch + 1] - first[batch]; }

  std::vector<size_t> size;   // [batch]: queries, and keys, per chunk of this sequence
  std::vector<size_t> first;  // [batch + 1]: chunks of queries in all sequences before this one
};

// Serves as GradTile for a rule whose queries carry nothing and get no gradients.
template <class Tile>
struct PlainGradTile : Tile {
  static constexpr size_t kCarried = 0;  // floats that a query carries

  using Tile::Tile;
  void Restore(size_t /*lane*/, const float* /*carried*/, bool /*first_phase*/) {}
  void Keep(size_t /*lane*/, float* /*carried*/) const {}
  // `overwrite` says that these are a query's first gradients.
  void Store(const Rows<float>& /*d_input*/, const TilePlace& /*place*/, bool /*overwrite*/) const {}
};

// Says what a rule makes of a key, besides its score.
struct LogitParts {
  VF position;   // how far away the rule takes the key to be
  VF term_log2;  // what the rule adds to the score
};

struct SoftmaxRule {
  static constexpr RuleInfo kInfo = InfoOf(ScoreRule::kSoftmax);
  static constexpr bool kPairTerms = false;    // whether pairs add Call::PairTerm in decode
  static constexpr bool kNeedsTotals = false;  // whether the backward walks twice, first with TotalsWalk

  // Returns the number of floats per packed row of the rule's input, where it is packed like queries.
  static size_t InputStride(const AttentionShape& /*shape*/) { return 0; }

  class Call {
   public:
    Call(const AttentionShape& /*shape*/, const Rows<const float>& /*input*/) {}
    float PairTerm(size_t /*batch*/, size_t /*head*/, size_t /*position*/, size_t /*key*/) const { return 0.0f; }
    float GateLog2(size_t /*batch*/, size_t /*head*/, size_t /*query*/) const { return 0.0f; }
  };

  class Tile {
   public:
    explicit Tile(const AttentionShape& /*shape*/) {}
    // `rows` has room for kTileRows packed rows of the rule's input.
    void Begin(const Call& /*call*/, const Scoring& /*scoring*/, const TilePlace& /*place*/, float* /*rows*/) {}
  };

  class Block {
   public:
    explicit Block(const AttentionShape& /*shape*/) {}
    void Begin(const Call& /*call*/, const TilePlace& /*place*/, size_t /*first_key*/, size_t /*rows*/) {}
  };

  struct Walk {
    static constexpr bool kEveryRow = false;

    Walk(const Tile& /*tile*/, const Block& /*block*/, size_t /*v*/) {}
    HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& /*keys*/, size_t /*r*/) const {
      return hn::MulAdd(s, scale, offset);
    }
    // Returns the parts of the logit that Logit was last called for; `distance` is the number of tokens between.
    HWY_INLINE LogitParts Parts(VF distance, const KeyRows& /*keys*/, size_t /*r*/) const {
      return {distance, hn::Zero(DF())};
    }
    HWY_INLINE void Next(MF /*drop*/) const {}
    void Save(Tile& /*tile*/, size_t /*v*/) const {}
  };

  class Gradients {
   public:
    Gradients(const AttentionShape& /*shape*/, const ChunkPlan& /*plan*/) {}
    void EndPhase(const std::vector<ChunkPlace>& /*done*/) {}
    void Store(const Rows<float>& /*d_input*/) const {}
  };

  using GradTile = PlainGradTile<Tile>;

  struct GradBlock : Block {
    using Block::Block;
    void BeginGrad(Gradients& /*gradients*/, const TilePlace& /*place*/, const ChunkPlace& /*chunk*/,
                   size_t /*first_key*/, size_t /*rows*/) {}
    void EndGrad(Gradients& /*gradients*/, const TilePlace& /*place*/, size_t /*first_key*/, size_t /*rows*/) const {}
  };

  struct GradWalk : Walk {
    GradWalk(const GradTile& tile, const GradBlock& block, size_t v) : Walk(tile, block, v) {}
    HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& /*keys*/, size_t /*r*/) const { return d_logit; }
    void Save(GradTile& /*tile*/, size_t /*v*/) const {}
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULE_SOFTMAX_INL_H_
