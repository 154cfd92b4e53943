// Prints a hash of every output and gradient of the attention kernels, for every SIMD target of this machine and over
// rules, options and shapes. A change that must not change any bit is checked by comparing what this program prints
// before and after it: scripts/same_bits.sh.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernels/problem.h"
#include "tra/kernels/targets.h"

namespace tra::testing {
namespace {

template <typename T>
size_t Hash(const std::vector<T>& values) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

void Print(const std::string& name, const Result& result) {
  std::printf("%s out %zx", name.c_str(), Hash(result.out));
  if (!result.d_q.empty()) {
    std::printf(" first_key %zx d_q %zx d_k %zx d_v %zx d_input %zx", Hash(result.first_key), Hash(result.d_q),
                Hash(result.d_k), Hash(result.d_v), Hash(result.d_input));
  }
  std::printf("\n");
}

AttentionShape Shape(size_t batch, size_t heads, size_t queries, size_t keys, size_t width, size_t value_width) {
  AttentionShape shape;
  shape.batch = batch;
  shape.heads = heads;
  shape.queries = queries;
  shape.keys = keys;
  shape.width = width;
  shape.value_width = value_width;
  return shape;
}

void PrintShape(const std::string& name, const AttentionShape& shape, AttentionOptions options) {
  const std::string size = name + " " + std::to_string(shape.batch) + "x" + std::to_string(shape.heads) + "x" +
                           std::to_string(shape.queries) + "/" + std::to_string(shape.keys) + "x" +
                           std::to_string(shape.width) + "/" + std::to_string(shape.value_width);
  const std::vector<int64_t> sequence_ids = {17, 4};  // used by dropout
  for (const Layout layout : {Layout::kHeadFirst, Layout::kTokenFirst}) {
    options.sequence_ids = layout == Layout::kTokenFirst ? sequence_ids.data() : nullptr;
    Problem problem(shape, options);
    problem.layout = layout;
    const std::string full = size + (layout == Layout::kHeadFirst ? " head-first" : " token-first");
    Print(full, problem.Both());
    if (options.dropout_on == DropoutOn::kNone) Print(full + " decode", problem.Decode());
    if (!InfoOf(options.rule).stops) continue;
    problem.SetLogGate(-0.7);  // strong enough to stop within the longer shapes
    Print(full + " strong gates", problem.Both());
    if (options.dropout_on == DropoutOn::kNone) Print(full + " strong gates decode", problem.Decode());
  }
}

void PrintRule(const std::string& name, const RuleInfo& rule) {
  for (const bool qk_norm : {true, false}) {
    for (const auto& [mode, dropout, changes] : kDropoutModes) {
      if (dropout == DropoutOn::kLogits && !rule.takes_logit_dropout) continue;
      for (const float stop : {kDefaultStopEps, kStopNever, kStopWhenExact}) {
        if (!rule.stops && stop != kDefaultStopEps) continue;
        AttentionOptions options;
        options.rule = rule.rule;
        options.qk_norm = qk_norm;
        options.dropout_on = dropout;
        options.dropout_p = dropout == DropoutOn::kNone ? 0.0f : 0.1f;
        options.seed = 5;
        options.stop_eps = stop;
        const std::string full = name + (qk_norm ? " normed" : " plain") + " dropout " +
                                 std::to_string(static_cast<int>(dropout)) + " stop " +
                                 (stop == kDefaultStopEps ? "default"
                                  : stop == kStopNever    ? "never"
                                                          : "exact");
        PrintShape(full, Shape(2, 2, 1, 1, 8, 8), options);
        PrintShape(full, Shape(2, 3, 97, 97, 59, 20), options);
        PrintShape(full, Shape(1, 2, 3, 700, 64, 64), options);
        PrintShape(full, Shape(1, 1, 150, 901, 16, 24), options);
        PrintShape(full, Shape(2, 4, 610, 610, 32, 32), options);
      }
    }
  }
}

void PrintAll() {
  for (const int64_t target : Targets()) {
    ForceTarget(target);
    for (const RuleInfo& rule : kRules) PrintRule(TargetName(target) + " " + rule.name, rule);
  }
  ForceTarget(0);
}

}  // namespace
}  // namespace tra::testing

int main() {
  tra::testing::PrintAll();
  return 0;
}
