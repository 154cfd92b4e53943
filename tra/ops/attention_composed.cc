// Computes attention by a chain of tensor operations: any dtype, any device, differentiable by autograd.
#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tra/kernels/dropout_draws.h"
#include "tra/kernels/log2.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/attention.h"
#include "tra/ops/checks.h"
#include "tra/ops/saved_draws.h"

namespace tra {
namespace {

at::Tensor RmsNorm(const at::Tensor& x, double eps) { return x * at::rsqrt(x.square().mean(-1, true) + eps); }

// Returns [queries, keys], true where key j is not after query i.
at::Tensor Visible(int64_t queries, int64_t keys, const at::Tensor& like) {
  const at::Tensor positions = at::arange(keys - queries, keys, like.options().dtype(at::kLong));
  return at::arange(keys, like.options().dtype(at::kLong)).unsqueeze(0) <= positions.unsqueeze(1);
}

// Returns for each key the number of kept keys from it to the query, both included.
at::Tensor CountKept(const at::Tensor& keep, at::ScalarType dtype) {
  return keep.to(dtype).flip({-1}).cumsum(-1).flip({-1});
}

// A gate of exactly 0 has log -inf, and 0 * inf is NaN. This value replaces it, and times any count stays finite in
// fp32.
constexpr double kStrongestGate = -1e20;

// Returns the sums of log f, [B,H,Tk], over the positions after the key up to the query, [B,H,Tq,Tk].
at::Tensor Forgotten(const at::Tensor& log_forget, int64_t queries) {
  constexpr double kStrongestForget = -16384 * kLn2;  // replaces the log of a gate of 0, as in the kernels
  // In float64, because differences of long sums must be accurate to the precision of the logits. The gate of the first
  // position lies between no query and key.
  const at::Tensor gates = log_forget.to(at::kDouble).clamp_min(kStrongestForget);
  const at::Tensor sums = at::constant_pad_nd(gates.narrow(-1, 1, gates.size(-1) - 1), {1, 0}).cumsum(-1);
  return sums.narrow(-1, sums.size(-1) - queries, queries).unsqueeze(-1) - sums.unsqueeze(-2);
}

// Returns the bias [H,distances] of every pair, [H,Tq,Tk].
at::Tensor ByDistance(const at::Tensor& bias, int64_t queries, int64_t keys) {
  const at::Tensor positions = at::arange(keys, bias.options().dtype(at::kLong));
  const at::Tensor distance = positions.narrow(0, keys - queries, queries).unsqueeze(1) - positions.unsqueeze(0);
  return bias.index_select(1, distance.clamp(0, bias.size(1) - 1).flatten()).view({bias.size(0), queries, keys});
}

// Returns z [B,H,Tq,positions] at the sum of gates from the key to the query, for s [B,H,Tq,Tk] and visible [Tq,Tk].
at::Tensor AtContextualPositions(const at::Tensor& s, const at::Tensor& z, const at::Tensor& visible) {
  const at::Tensor gates = at::where(visible, s.sigmoid(), at::zeros({}, s.options()));
  const at::Tensor p =
      gates.flip({-1}).cumsum(-1).flip({-1}).clamp_max(static_cast<double>(z.size(-1) - 1)).nan_to_num();
  const at::Tensor low = p.floor();
  const at::Tensor weight = p - low.detach();
  return at::lerp(z.gather(-1, low.to(at::kLong)), z.gather(-1, p.ceil().to(at::kLong)), weight);
}

// Returns weights @ v, but with 0 * NaN = 0: what a row does not attend to cannot spoil it. On other devices than the
// CPU, looking for NaN would make the device wait, so there the product is plain.
at::Tensor Mix(const at::Tensor& weights, const at::Tensor& v) {
  if (!v.device().is_cpu() || at::isfinite(v).all().item<bool>()) return at::matmul(weights, v);
  const at::Tensor spoiled = at::isfinite(v).logical_not();
  const at::Tensor reached = at::matmul((weights != 0).to(v.scalar_type()), spoiled.to(v.scalar_type())) > 0;
  return at::matmul(weights, v.masked_fill(spoiled, 0.0)).masked_fill(reached, std::nan(""));
}

// Computes a flat batch: padded to a rectangle on the right, which no query sees, or one sequence after the other where
// that would be mostly padding.
at::Tensor ComposeFlat(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                       const AttentionOptions& options, const at::Tensor& sequence_ids, const at::Tensor& cu_seqlens) {
  const int64_t heads = q.size(1), tokens = q.size(2);
  const int32_t* offsets = cu_seqlens.data_ptr<int32_t>();
  const int64_t* given_ids = SequenceIds("attention_composed", {options.seed, sequence_ids}, cu_seqlens.size(0) - 1);
  std::vector<int64_t> starts, lengths, ids;  // of the sequences that are not empty
  for (int64_t b = 0; b + 1 < cu_seqlens.size(0); ++b) {
    if (offsets[b + 1] == offsets[b]) continue;
    starts.push_back(offsets[b]);
    lengths.push_back(offsets[b + 1] - offsets[b]);
    ids.push_back(given_ids == nullptr ? b : given_ids[b]);
  }
  if (lengths.empty()) return at::empty({1, heads, 0, v.size(3)}, v.options());
  const auto sequences = static_cast<int64_t>(lengths.size());
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const bool by_token = InputIsByToken(options.rule);
  if (sequences * longest > 4 * tokens) {
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < lengths.size(); ++i) {
      const auto part = [&](const at::Tensor& x) { return x.narrow(2, starts[i], lengths[i]); };
      parts.push_back(AttentionComposed(part(q), part(k), part(v), by_token ? part(rule_input) : rule_input, options,
                                        at::full({1}, ids[i], at::kLong)));
    }
    return at::cat(parts, 2);
  }
  std::vector<int64_t> from, back;  // the token at each place of the rectangle, and the place of each token
  for (int64_t i = 0; i < sequences; ++i) {
    const int64_t start = starts[static_cast<size_t>(i)], length = lengths[static_cast<size_t>(i)];
    for (int64_t t = 0; t < longest; ++t) from.push_back(start + std::min(t, length - 1));
    for (int64_t t = 0; t < length; ++t) back.push_back(i * longest + t);
  }
  const at::Tensor places = at::tensor(from, at::kLong).to(q.device());
  // [1, head, token, ...] -> [sequence, head, position, ...]
  const auto pad = [&](const at::Tensor& x) {
    std::vector<int64_t> sizes = {heads, sequences, longest};
    if (x.dim() == 4) sizes.push_back(x.size(3));
    return x.squeeze(0).index_select(1, places).view(sizes).transpose(0, 1);
  };
  const at::Tensor out = AttentionComposed(pad(q), pad(k), pad(v), by_token ? pad(rule_input) : rule_input, options,
                                           at::tensor(ids, at::kLong));
  return out.transpose(0, 1)
      .reshape({1, heads, sequences * longest, v.size(3)})
      .index_select(2, at::tensor(back, at::kLong).to(q.device()));
}

}  // namespace

at::Tensor DropoutMask(int64_t batch, int64_t heads, int64_t queries, int64_t keys, double p, const Draws& draws) {
  TORCH_CHECK_VALUE(batch >= 0 && heads >= 0 && queries >= 0 && keys >= queries,
                    "dropout_mask: need batch, heads, queries >= 0 and keys >= queries, got ", batch, ", ", heads, ", ",
                    queries, ", ", keys);
  TORCH_CHECK_VALUE(p >= 0 && p < 1, "dropout_mask: p must be in [0, 1), got ", p);
  at::Tensor mask = at::empty({batch, heads, queries, keys}, at::kBool);
  const int64_t* sequence_ids = SequenceIds("dropout_mask", draws, batch);
  const uint32_t threshold = DropoutThreshold(static_cast<float>(p));
  const auto head_count = static_cast<size_t>(heads), width = static_cast<size_t>(keys);
  const auto first = static_cast<size_t>(keys - queries);
  AtenParallel parallel;
  parallel.Run(static_cast<size_t>(batch * heads), [&](size_t row, size_t /*worker*/) {
    const uint64_t seed = SequenceSeed(draws.seed, sequence_ids, row / head_count);
    bool* at = mask.data_ptr<bool>() + row * (width - first) * width;
    for (size_t i = first; i < width; ++i) {
      for (size_t block = 0; block < width; block += kKeysPerPhilox) {
        const auto words = DropoutWords(seed, row % head_count, i, block);
        const size_t end = std::min(width, block + kKeysPerPhilox);
        for (size_t j = block; j < end; ++j) *at++ = DropoutBits(words, j) < threshold;
      }
    }
  });
  return mask;
}

at::Tensor AttentionComposed(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& rule_input, const AttentionOptions& options,
                             const at::Tensor& sequence_ids, const at::Tensor& cu_seqlens) {
  CheckAttention("attention_composed", q, k, v, rule_input, options, cu_seqlens);
  if (cu_seqlens.defined()) return ComposeFlat(q, k, v, rule_input, options, sequence_ids, cu_seqlens);
  // Autocast would lower the products to half precision and move scores across the threshold.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  // Half precision cannot count past 256 (bfloat16) or 2048, so its inputs are widened; the output has the type of the
  // inputs again.
  const at::ScalarType dtype = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto wide = [&](const at::Tensor& x) { return x.to(dtype); };
  const int64_t queries = q.size(2), keys = k.size(2);
  const bool drops = options.dropout_p > 0 && options.dropout_on != DropoutOn::kNone;
  const double keep_scale = 1.0 / (1.0 - static_cast<double>(options.dropout_p));
  const at::Tensor dropped =
      drops ? DropoutMask(q.size(0), q.size(1), queries, keys, options.dropout_p, {options.seed, sequence_ids})
                  .to(q.device())
            : at::Tensor();

  const auto norm = [&](const at::Tensor& x) { return options.qk_norm ? RmsNorm(wide(x), options.norm_eps) : wide(x); };
  const at::Tensor s = at::matmul(norm(q), norm(k).transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(3)));
  const at::Tensor visible = Visible(queries, keys, q);
  at::Tensor keep = visible.expand_as(s);
  at::Tensor logits = s;
  switch (options.rule) {
    case ScoreRule::kSoftmax:
      break;
    case ScoreRule::kThreshold:
      keep = at::logical_and(keep, at::logical_not(s <= 0));  // not s > 0: NaN must stay
      logits = s + CountKept(keep, dtype) * wide(rule_input).clamp_min(kStrongestGate).unsqueeze(-1);
      break;
    case ScoreRule::kForget:
      logits = s + Forgotten(rule_input, queries).to(dtype);
      break;
    case ScoreRule::kDistance:
      logits = s + ByDistance(wide(rule_input), queries, keys);
      break;
    case ScoreRule::kContextual:
      logits = s + AtContextualPositions(s, wide(rule_input), visible);
      break;
  }
  if (drops && options.dropout_on == DropoutOn::kLogits) {
    logits = (logits * keep_scale).masked_fill(dropped, 0.0);
  }
  // A finite floor keeps rows that keep nothing, and their gradients, free of NaN.
  logits = logits.masked_fill(at::logical_not(keep), std::numeric_limits<float>::lowest());
  at::Tensor weights = logits.softmax(-1).masked_fill(at::logical_not(keep), 0.0);
  if (drops && options.dropout_on == DropoutOn::kWeights) {
    weights = (weights * keep_scale).masked_fill(dropped, 0.0);
  }
  return Mix(weights, wide(v)).to(q.scalar_type());
}

}  // namespace tra
