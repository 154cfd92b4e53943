// Tests flat batches: sequences of any lengths one after the other.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numeric>
#include <string>

#include "tra/kernels/attention/rules.h"
#include "tra/ops/attention.h"

namespace tra {
namespace {

constexpr int64_t kHeads = 2, kWidth = 16, kTable = 12;
// Empty sequences, single tokens, and lengths around those of tiles, blocks and chunks.
const std::vector<int64_t> kLengths = {0, 1, 5, 97, 0, 300, 48, 1, 3, 700, 0};

struct Flat {
  at::Tensor q, k, v, input, cu_seqlens, mix;  // mix: the gradient of the output

  std::vector<at::Tensor> Leaves() const {
    std::vector<at::Tensor> leaves = {q, k, v};
    if (input.defined()) leaves.push_back(input);
    return leaves;
  }
};

at::Tensor Offsets(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> offsets = {0};
  for (const int64_t each : lengths) offsets.push_back(offsets.back() + static_cast<int32_t>(each));
  return at::tensor(offsets, at::kInt);
}

Flat Draw(ScoreRule rule, const std::vector<int64_t>& lengths) {
  at::manual_seed(1);
  const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Flat flat{at::randn({tokens, kHeads, kWidth}),
            at::randn({tokens, kHeads, kWidth}),
            at::randn({tokens, kHeads, kWidth}),
            {},
            Offsets(lengths),
            at::randn({tokens, kHeads, kWidth})};
  if (InfoOf(rule).input_is_log_gate) flat.input = at::log_sigmoid(at::randn({tokens, kHeads}) + 2);
  if (rule == ScoreRule::kDistance) flat.input = at::randn({kHeads, kTable});
  if (rule == ScoreRule::kContextual) flat.input = at::randn({tokens, kHeads, kTable});
  for (const at::Tensor& each : flat.Leaves()) each.set_requires_grad(true);
  return flat;
}

struct Result {
  at::Tensor out;
  std::vector<at::Tensor> gradients;  // of q, k, v and the rule's input
};

Result Compute(const Flat& flat, const AttentionOptions& options, const at::Tensor& ids = {}) {
  const at::Tensor out = AttentionVarlen(flat.q, flat.k, flat.v, flat.input, flat.cu_seqlens, options, ids);
  return {out, torch::autograd::grad({(out * flat.mix).sum()}, flat.Leaves())};
}

// Returns sequence b as a flat batch of its own.
Flat Alone(const Flat& flat, int64_t b, bool shared_input) {
  const int64_t start = flat.cu_seqlens[b].item<int64_t>(), length = flat.cu_seqlens[b + 1].item<int64_t>() - start;
  const auto part = [&](const at::Tensor& x) { return x.detach().narrow(0, start, length).clone(); };
  Flat alone{part(flat.q), part(flat.k), part(flat.v), {}, Offsets({length}), part(flat.mix)};
  if (flat.input.defined()) alone.input = shared_input ? flat.input.detach().clone() : part(flat.input);
  for (const at::Tensor& each : alone.Leaves()) each.set_requires_grad(true);
  return alone;
}

struct Case {
  std::string name;
  AttentionOptions options;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const ScoreRule rule :
       {ScoreRule::kSoftmax, ScoreRule::kThreshold, ScoreRule::kForget, ScoreRule::kDistance, ScoreRule::kContextual}) {
    for (const DropoutMode& mode : kDropoutModes) {
      if (mode.value == DropoutOn::kLogits && !InfoOf(rule).takes_logit_dropout) continue;
      for (const bool qk_norm : {false, true}) {
        Case each;
        each.options.rule = rule;
        each.options.qk_norm = qk_norm;
        each.options.dropout_on = mode.value;
        each.options.dropout_p = mode.value == DropoutOn::kNone ? 0.0f : 0.1f;
        each.options.seed = 7;
        each.name = "rule " + std::to_string(static_cast<int>(rule)) + ", dropout on " + mode.name +
                    (qk_norm ? ", QK-norm" : "");
        cases.push_back(each);
      }
    }
  }
  return cases;
}

double Worst(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

TEST(Varlen, EachSequenceIsBitForBitWhatItIsAlone) {
  const at::Tensor ids = at::arange(static_cast<int64_t>(kLengths.size())) * 3 + 5;
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    const bool shared = each.options.rule == ScoreRule::kDistance;
    const Flat flat = Draw(each.options.rule, kLengths);
    const Result together = Compute(flat, each.options, ids);
    at::Tensor d_shared = at::zeros({kHeads, kTable}, at::kDouble);
    for (int64_t b = 0; b < ids.size(0); ++b) {
      const Flat alone = Alone(flat, b, shared);
      const Result one = Compute(alone, each.options, ids.narrow(0, b, 1));
      const int64_t start = flat.cu_seqlens[b].item<int64_t>();
      const auto part = [&](const at::Tensor& x) { return x.narrow(0, start, alone.q.size(0)); };
      EXPECT_TRUE(one.out.equal(part(together.out))) << b;
      for (size_t i = 0; i < one.gradients.size(); ++i) {
        if (shared && i == 3) {
          d_shared += one.gradients[i];
        } else {
          EXPECT_TRUE(one.gradients[i].equal(part(together.gradients[i]))) << b << ", input " << i;
        }
      }
      // The operator on [batch, head, position, channel] computes the same bits.
      if (alone.q.size(0) == 0) continue;
      const auto as_batch = [](const at::Tensor& x) { return x.detach().transpose(0, 1).unsqueeze(0); };
      const at::Tensor input = !alone.input.defined() || shared ? alone.input : as_batch(alone.input);
      const at::Tensor batch =
          Attention(as_batch(alone.q), as_batch(alone.k), as_batch(alone.v), input, each.options, ids.narrow(0, b, 1));
      EXPECT_TRUE(batch.squeeze(0).transpose(0, 1).equal(one.out)) << b;
    }
    if (shared) {
      EXPECT_LT(Worst(together.gradients[3], d_shared), 1e-4);
    }
  }
}

TEST(Varlen, NothingOfANeighbourReachesASequence) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    if (each.options.rule == ScoreRule::kDistance) continue;  // its table is everyone's: tested with out alone below
    const Flat flat = Draw(each.options.rule, kLengths);
    const Result before = Compute(flat, each.options);
    Flat spoiled = flat;
    const int64_t start = flat.cu_seqlens[5].item<int64_t>(), end = flat.cu_seqlens[6].item<int64_t>();
    for (at::Tensor* x : {&spoiled.q, &spoiled.k, &spoiled.v, &spoiled.input, &spoiled.mix}) {
      if (!x->defined()) continue;
      *x = x->detach().clone();
      x->narrow(0, start, end - start).fill_(std::nan(""));
    }
    for (const at::Tensor& leaf : spoiled.Leaves()) leaf.set_requires_grad(true);
    const Result after = Compute(spoiled, each.options);
    const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
      return a.narrow(0, 0, start).equal(b.narrow(0, 0, start)) &&
             a.narrow(0, end, a.size(0) - end).equal(b.narrow(0, end, b.size(0) - end));
    };
    EXPECT_TRUE(same(before.out, after.out));
    for (size_t i = 0; i < before.gradients.size(); ++i) {
      EXPECT_TRUE(same(before.gradients[i], after.gradients[i])) << i;
    }
  }
}

TEST(Varlen, TheNumberOfThreadsChangesNoBit) {
  const int threads = at::get_num_threads();
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    const Flat flat = Draw(each.options.rule, kLengths);
    at::set_num_threads(1);
    const Result one = Compute(flat, each.options);
    at::set_num_threads(3);
    const Result three = Compute(flat, each.options);
    EXPECT_TRUE(one.out.equal(three.out));
    for (size_t i = 0; i < one.gradients.size(); ++i) EXPECT_TRUE(one.gradients[i].equal(three.gradients[i])) << i;
  }
  at::set_num_threads(threads);
}

TEST(Varlen, TenThousandSequences) {
  std::vector<int64_t> lengths(10000);
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<int64_t>(i * 7 % 4);
  for (const ScoreRule rule : {ScoreRule::kThreshold, ScoreRule::kForget, ScoreRule::kDistance}) {
    AttentionOptions options;
    options.rule = rule;
    const Flat flat = Draw(rule, lengths);
    const Result together = Compute(flat, options);
    for (const int64_t b : {1, 5003, 9997, 9999}) {
      const Flat alone = Alone(flat, b, rule == ScoreRule::kDistance);
      const int64_t start = flat.cu_seqlens[b].item<int64_t>();
      EXPECT_TRUE(Compute(alone, options).out.equal(together.out.narrow(0, start, alone.q.size(0)))) << b;
    }
    EXPECT_TRUE(at::isfinite(together.gradients[0]).all().item<bool>());
  }
}

TEST(Varlen, ABatchOfNothingHasNoOutputAndNoGradient) {
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{}, std::vector<int64_t>{0, 0}}) {
    for (const ScoreRule rule : {ScoreRule::kThreshold, ScoreRule::kForget, ScoreRule::kDistance}) {
      AttentionOptions options;
      options.rule = rule;
      const Result result = Compute(Draw(rule, lengths), options);
      EXPECT_EQ(result.out.sizes(), at::IntArrayRef({0, kHeads, kWidth}));
      if (rule == ScoreRule::kDistance) {
        EXPECT_EQ(result.gradients[3].abs().sum().item<double>(), 0);
      }
    }
  }
}

// Lengths of one size are padded, others computed one after the other.
void ExpectComposedGivesTheSame(const std::vector<int64_t>& lengths) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    const AttentionOptions& options = each.options;
    const Flat flat = Draw(options.rule, lengths);
    Flat wide = flat;
    for (at::Tensor* x : {&wide.q, &wide.k, &wide.v, &wide.input, &wide.mix}) {
      if (x->defined()) *x = x->detach().to(at::kDouble);
    }
    for (const at::Tensor& leaf : wide.Leaves()) leaf.set_requires_grad(true);
    const Result kernels = Compute(flat, options), composed = Compute(wide, options);
    EXPECT_LT(Worst(kernels.out, composed.out), 1e-5);
    for (size_t i = 0; i < kernels.gradients.size(); ++i) {
      EXPECT_LT(Worst(kernels.gradients[i], composed.gradients[i]), 1e-4) << i;
    }
  }
}

TEST(Varlen, ComposedOperationsGiveTheSame) {
  ExpectComposedGivesTheSame({0, 25, 17, 60, 0, 30});
  ExpectComposedGivesTheSame({0, 1, 1, 2, 5, 60, 0, 3, 1});
}

std::string ErrorOf(const Flat& flat, const AttentionOptions& options = {}, const at::Tensor& ids = {}) {
  try {
    AttentionVarlen(flat.q, flat.k, flat.v, flat.input, flat.cu_seqlens, options, ids);
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

TEST(Varlen, WrongOffsetsAreErrorsWithTheNumbers) {
  Flat flat = Draw(ScoreRule::kThreshold, {3, 4});
  const auto error = [&](const at::Tensor& cu_seqlens) {
    flat.cu_seqlens = cu_seqlens;
    return ErrorOf(flat);
  };
  const auto offsets = [](const std::vector<int32_t>& values) { return at::tensor(values, at::kInt); };
  EXPECT_NE(error(offsets({2, 7})).find("must start with 0, got 2"), std::string::npos);
  EXPECT_NE(error(offsets({0, 5, 3, 7})).find("has 5 at 1 and 3 at 2"), std::string::npos);
  EXPECT_NE(error(offsets({0, 3, 8})).find("the number of tokens, 7, got 8"), std::string::npos);
  EXPECT_NE(error(offsets({0, 3})).find("the number of tokens, 7, got 3"), std::string::npos);
  EXPECT_NE(error(at::empty({0}, at::kInt)).find("[sequences + 1]"), std::string::npos);
  EXPECT_NE(error(at::tensor(std::vector<int64_t>{0, 7}, at::kLong)).find("int32"), std::string::npos);
  flat.cu_seqlens = offsets({0, 3, 7});
  EXPECT_NE(ErrorOf(flat, {}, at::arange(3)).find("ids of 2 sequences"), std::string::npos);
  flat.q = flat.q.unsqueeze(0);
  EXPECT_NE(ErrorOf(flat).find("[token, head, channel]"), std::string::npos);
}

}  // namespace
}  // namespace tra
