// The mechanism as a chain of tensor operations: any dtype, any device, differentiable by autograd.
#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>
#include <limits>

#include "tra/kernels/philox.h"
#include "tra/ops/attention.h"
#include "tra/ops/checks.h"

namespace tra {
namespace {

at::Tensor RmsNorm(const at::Tensor& x, double eps) { return x * at::rsqrt(x.square().mean(-1, true) + eps); }

// [queries, keys]: key j is not after query i.
at::Tensor Visible(int64_t queries, int64_t keys, const at::Tensor& like) {
  const at::Tensor positions = at::arange(keys - queries, keys, like.options().dtype(at::kLong));
  return at::arange(keys, like.options().dtype(at::kLong)).unsqueeze(0) <= positions.unsqueeze(1);
}

// For each key the kept keys from it to the query, both included: right to left.
at::Tensor CountKept(const at::Tensor& keep, at::ScalarType dtype) {
  return keep.to(dtype).flip({-1}).cumsum(-1).flip({-1});
}

// A gate of exactly 0 has log -inf, and 0 * inf is NaN; times any count this stays finite in fp32.
constexpr double kStrongestGate = -1e20;

// weights @ v, but 0 * NaN is 0: what a row does not attend to cannot spoil it. Elsewhere than on the CPU looking for
// it would make the device wait, so there the product is plain.
at::Tensor Mix(const at::Tensor& weights, const at::Tensor& v) {
  if (!v.device().is_cpu() || at::isfinite(v).all().item<bool>()) return at::matmul(weights, v);
  const at::Tensor spoiled = at::isfinite(v).logical_not();
  const at::Tensor reached = at::matmul((weights != 0).to(v.scalar_type()), spoiled.to(v.scalar_type())) > 0;
  return at::matmul(weights, v.masked_fill(spoiled, 0.0)).masked_fill(reached, std::nan(""));
}

}  // namespace

at::Tensor DropoutMask(int64_t batch, int64_t heads, int64_t queries, int64_t keys, double p, int64_t seed) {
  TORCH_CHECK_VALUE(batch >= 0 && heads >= 0 && queries >= 0 && keys >= queries,
                    "dropout_mask: need batch, heads, queries >= 0 and keys >= queries, got ", batch, ", ", heads, ", ",
                    queries, ", ", keys);
  TORCH_CHECK_VALUE(p >= 0 && p < 1, "dropout_mask: p must be in [0, 1), got ", p);
  at::Tensor mask = at::empty({batch, heads, queries, keys}, at::kBool);
  bool* at = mask.data_ptr<bool>();
  for (int64_t head = 0; head < batch * heads; ++head) {
    for (int64_t i = keys - queries; i < keys; ++i) {
      for (int64_t j = 0; j < keys; ++j) {
        *at++ = Dropped(static_cast<uint64_t>(seed), static_cast<float>(p), static_cast<size_t>(head),
                        static_cast<size_t>(i), static_cast<size_t>(j));
      }
    }
  }
  return mask;
}

at::Tensor AttentionComposed(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                             const AttentionOptions& options) {
  CheckAttention("attention_composed", q, k, v, log_gate, options);
  // Autocast would lower the products to half precision and move scores across the threshold.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  // Half precision cannot count past 256 (bfloat16) or 2048: its inputs are widened, its output is not.
  const at::ScalarType dtype = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto wide = [&](const at::Tensor& x) { return x.to(dtype); };
  const int64_t queries = q.size(2), keys = k.size(2);
  const bool threshold = options.rule == ScoreRule::kThreshold;
  const bool drops = options.dropout_p > 0 && options.dropout_on != DropoutOn::kNone;
  const double keep_scale = 1.0 / (1.0 - static_cast<double>(options.dropout_p));
  const at::Tensor dropped =
      drops ? DropoutMask(q.size(0), q.size(1), queries, keys, options.dropout_p, static_cast<int64_t>(options.seed))
                  .to(q.device())
            : at::Tensor();

  const auto norm = [&](const at::Tensor& x) { return options.qk_norm ? RmsNorm(wide(x), options.norm_eps) : wide(x); };
  const at::Tensor s = at::matmul(norm(q), norm(k).transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(3)));
  at::Tensor keep = Visible(queries, keys, q).expand_as(s);
  at::Tensor logits = s;
  if (threshold) {
    keep = at::logical_and(keep, at::logical_not(s <= 0));  // not s > 0: NaN must stay
    logits = s + CountKept(keep, dtype) * wide(log_gate).clamp_min(kStrongestGate).unsqueeze(-1);
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
