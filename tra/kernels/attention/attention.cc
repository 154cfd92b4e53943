// Defines the functions that callers use: they check the problem and run the kernels.
#include "tra/kernels/attention.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/kernels/attention/key_length_bound.h"
#include "tra/kernels/attention/passes.h"
#include "tra/kernels/attention/rules.h"
#include "tra/kernels/memory.h"

namespace tra {
namespace {

void CheckRectangle(const AttentionRowsArgs<float>& args, const AttentionOptions& options) {
  const auto check = [](const char* what, size_t first, size_t count, size_t all) {
    if (first <= all && count <= all - first) return;
    throw std::invalid_argument("attention rows: " + std::string(what) + " " + std::to_string(first) + " to " +
                                std::to_string(first + count) + " were asked for, there are " + std::to_string(all));
  };
  check("queries", args.first_query, args.queries, args.shape.queries);
  check("keys", args.first_key, args.keys, args.shape.keys);
  if (args.shape.offsets != nullptr) {
    throw std::invalid_argument("attention rows take no flat batch: pass one sequence of it");
  }
  if (options.dropout_on != DropoutOn::kNone && options.dropout_p > 0.0f) {
    throw std::invalid_argument("attention rows have no dropout: set dropout_p to 0");
  }
}

}  // namespace

void CheckProblem(const AttentionShape& shape, const AttentionOptions& options) {
  const auto text = [](size_t n) { return std::to_string(n); };
  if (shape.width == 0 || shape.width > kMaxHeadWidth || shape.value_width == 0 || shape.value_width > kMaxHeadWidth) {
    throw std::invalid_argument("attention: head widths must be 1.." + text(kMaxHeadWidth) + ", got q and k " +
                                text(shape.width) + ", v " + text(shape.value_width) + "; use more heads");
  }
  if (shape.queries > shape.keys) {
    throw std::invalid_argument(
        "attention: " + text(shape.queries) + " queries but only " + text(shape.keys) +
        " keys; the queries are the last positions of the keys, so pass the keys of all of them");
  }
  for (size_t b = 0; shape.offsets != nullptr && b <= shape.batch; ++b) {
    const int32_t before = b == 0 ? 0 : shape.offsets[b - 1], at = shape.offsets[b];
    if (b == 0 && at != 0) {
      throw std::invalid_argument("attention: the offsets of a flat batch must start with 0, got " +
                                  std::to_string(at));
    }
    if (at < before || static_cast<size_t>(at - before) > shape.keys) {
      throw std::invalid_argument("attention: offset " + text(b) + " of a flat batch is " + std::to_string(at) +
                                  " after " + std::to_string(before) +
                                  "; offsets must ascend, by at most the longest " + "sequence's " + text(shape.keys));
    }
  }
  if (shape.keys > (size_t{1} << 24)) {
    throw std::invalid_argument("attention: " + text(shape.keys) + " keys; counts are exact only up to 2^24");
  }
  const RuleInfo& rule = InfoOf(options.rule);
  if (rule.max_table > 0 && (shape.table == 0 || shape.table > rule.max_table)) {
    throw std::invalid_argument("attention: the last dimension of " + std::string(rule.input) + " must be " +
                                (rule.max_table == kAnyTable ? "at least 1" : "1.." + text(rule.max_table)) + ", got " +
                                text(shape.table));
  }
  if (options.dropout_on == DropoutOn::kLogits && options.dropout_p > 0.0f && !rule.takes_logit_dropout) {
    throw std::invalid_argument("attention: this rule has no dropout on logits; use dropout on weights");
  }
  if (!(options.dropout_p >= 0.0f && options.dropout_p < 1.0f)) {
    throw std::invalid_argument("attention: dropout_p must be in [0, 1), got " + std::to_string(options.dropout_p));
  }
  if (!(options.stop_eps < 1.0f) || (options.stop_eps < 0.0f && options.stop_eps != kStopWhenExact)) {
    throw std::invalid_argument("attention: stop_eps must be in [0, 1), or -1 to stop only where no bit changes; got " +
                                std::to_string(options.stop_eps));
  }
  if (!(options.norm_eps > 0.0f)) {
    throw std::invalid_argument("attention: norm_eps must be positive, or a zero row would be divided by zero; got " +
                                std::to_string(options.norm_eps));
  }
}

void AttentionForward(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  CheckProblem(args.shape, options);
  if (args.shape.batch * args.shape.heads * args.shape.queries == 0) return;
  const auto bound = KeyLengthBound::IfNeeded(args.shape, args.k, options, parallel);
  RunForward(args, options, bound.get(), parallel);
}

void AttentionBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  CheckProblem(args.shape, options);
  RunBackward(args, options, parallel);
}

void AttentionDecode(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  CheckProblem(args.shape, options);
  if (options.dropout_on != DropoutOn::kNone && options.dropout_p > 0.0f) {
    throw std::invalid_argument("decode has no dropout: set dropout_p to 0");
  }
  if (args.shape.offsets != nullptr) {
    throw std::invalid_argument("decode takes no flat batch: every sequence must have the same number of queries");
  }
  if (args.log2_sum != nullptr || args.first_key != nullptr) {
    throw std::invalid_argument("decode has no backward: leave log2_sum and first_key null");
  }
  if (args.shape.batch * args.shape.heads * args.shape.queries == 0) return;
  constexpr size_t kFewQueries = 8;  // with more, reading keys once per tile of queries pays more
  if (args.shape.queries > kFewQueries || !InfoOf(options.rule).joins) return AttentionForward(args, options, parallel);
  RunDecode(args, options, parallel);
}

void AttentionRows(const AttentionRowsArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  AttentionShape whole = args.shape;
  whole.value_width = 1;
  CheckProblem(whole, options);
  CheckRectangle(args, options);
  if (args.shape.batch * args.shape.heads * args.queries == 0) return;

  RowsPlan plan;
  plan.first_query = args.first_query / kTilesStartAt * kTilesStartAt;
  // Up to the end of a tile: a walk stops where all queries of its tile allow it. Nothing after that matters.
  const size_t last =
      std::min(DivideUp(args.first_query + args.queries, kTilesStartAt) * kTilesStartAt, args.shape.queries);
  ForwardArgs<float>& forward = plan.forward;
  forward.shape = whole;
  forward.shape.queries = last - plan.first_query;
  forward.shape.keys = args.shape.keys - args.shape.queries + last;
  const auto from_first = [&](Rows<const float> rows) {
    rows.data += static_cast<ptrdiff_t>(plan.first_query) * rows.row_stride;
    return rows;
  };
  forward.q = from_first(args.q);
  forward.k = args.k;
  forward.rule_input = InfoOf(options.rule).rows == InputRows::kQueries ? from_first(args.rule_input) : args.rule_input;
  const float no_value = 0.0f;  // strides of 0: the value of every key
  forward.v = {&no_value, 0, 0, 0};
  const size_t rows = forward.shape.AllQueries();
  std::vector<float> out(rows), log2_sum(rows);
  std::vector<int32_t> first_key(rows);
  const auto queries = static_cast<ptrdiff_t>(forward.shape.queries);
  forward.out = {out.data(), static_cast<ptrdiff_t>(forward.shape.heads) * queries, queries, 1};
  forward.log2_sum = log2_sum.data();
  forward.first_key = first_key.data();
  const auto key_lengths = KeyLengthBound::IfNeeded(forward.shape, forward.k, options, parallel);
  plan.key_lengths = key_lengths.get();
  RunForward(forward, options, plan.key_lengths, parallel);
  RunRows(args, options, plan, parallel);
}

}  // namespace tra
