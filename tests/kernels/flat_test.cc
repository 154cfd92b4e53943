// Compares flat batches with the float64 reference, forward and backward.
#include <gtest/gtest.h>

#include "tests/kernels/arrays.h"
#include "tests/kernels/problem.h"
#include "tra/kernels/attention_reference.h"

namespace tra::testing {
namespace {

constexpr size_t kHeads = 2, kWidth = 8;
const std::vector<int32_t> kOffsets = {0, 0, 1, 131, 131, 150};

// Runs `forward` and `backward` on tensors [token, head, channel], and returns the output and all gradients.
template <typename T, typename Forward, typename Backward>
std::vector<Doubles> Compute(const AttentionOptions& options, const Forward& forward, const Backward& backward) {
  const auto tokens = static_cast<size_t>(kOffsets.back());
  AttentionShape shape;
  shape.batch = kOffsets.size() - 1;
  shape.heads = kHeads;
  shape.queries = shape.keys = 130;
  shape.width = shape.value_width = kWidth;
  shape.offsets = kOffsets.data();
  std::vector<std::vector<T>> inputs, outputs;
  for (uint32_t seed = 1; seed <= 4; ++seed) inputs.push_back(As<T>(Draw(tokens * kHeads * kWidth, seed)));
  std::vector<T> gate = As<T>(Draw(tokens * kHeads, 5));
  for (T& each : gate) each = static_cast<T>(-0.3f) * each * each;  // at most 0
  for (int i = 0; i < 4; ++i) outputs.push_back(Poison<T>(tokens * kHeads * kWidth));
  std::vector<T> d_gate = Poison<T>(tokens * kHeads), log2_sum = Poison<T>(tokens * kHeads);
  std::vector<int32_t> first_key(tokens * kHeads);
  const auto rows = [](auto* data, size_t width) {
    const auto w = static_cast<ptrdiff_t>(width);
    return Rows<std::remove_pointer_t<decltype(data)>>{data, 0, w, w * static_cast<ptrdiff_t>(kHeads), kOffsets.data()};
  };
  const auto in = [&](size_t i) { return rows(static_cast<const T*>(inputs[i].data()), kWidth); };
  const auto out = [&](size_t i) { return rows(outputs[i].data(), kWidth); };
  ForwardArgs<T> args;
  args.shape = shape;
  args.q = in(0);
  args.k = in(1);
  args.v = in(2);
  args.rule_input = rows(static_cast<const T*>(gate.data()), 1);
  args.out = out(0);
  args.log2_sum = log2_sum.data();
  args.first_key = first_key.data();
  forward(args, options);
  BackwardArgs<T> back;
  back.shape = shape;
  back.q = args.q;
  back.k = args.k;
  back.v = args.v;
  back.rule_input = args.rule_input;
  back.out = rows(static_cast<const T*>(outputs[0].data()), kWidth);
  back.d_out = in(3);
  back.log2_sum = log2_sum.data();
  back.first_key = first_key.data();
  back.d_q = out(1);
  back.d_k = out(2);
  back.d_v = out(3);
  back.d_rule_input = rows(d_gate.data(), 1);
  backward(back, options);
  std::vector<Doubles> results;
  for (const std::vector<T>& each : outputs) results.push_back(Widen(each));
  results.push_back(Widen(d_gate));
  return results;
}

// With dropout, which must follow a sequence's id and the position within it.
TEST(Flat, MatchesReference) {
  const std::vector<int64_t> ids = {3, 9, 4, 1, 7};
  for (const ScoreRule rule : {ScoreRule::kThreshold, ScoreRule::kForget}) {
    AttentionOptions options;
    options.rule = rule;
    options.dropout_on = DropoutOn::kWeights;
    options.dropout_p = 0.2f;
    options.seed = 5;
    options.sequence_ids = ids.data();
    ThreadPool pool(2);
    const std::vector<Doubles> got = Compute<float>(
        options, [&](const auto& args, const auto& with) { AttentionForward(args, with, pool); },
        [&](const auto& args, const auto& with) { AttentionBackward(args, with, pool); });
    const std::vector<Doubles> want = Compute<double>(
        options, [](const auto& args, const auto& with) { AttentionForwardReference(args, with); },
        [](const auto& args, const auto& with) { AttentionBackwardReference(args, with); });
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LT(MaxError(got[i], want[i]), 2e-5 * (1 + MaxAbs(want[i])))
          << "rule " << static_cast<int>(rule) << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tra::testing
