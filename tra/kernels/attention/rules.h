// Lists the score rules: what each takes as its input, and what the kernels may assume about it. How a rule computes is
// in its own file in this folder, rule_*-inl.h.
#ifndef TRA_KERNELS_ATTENTION_RULES_H_
#define TRA_KERNELS_ATTENTION_RULES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "tra/kernels/attention.h"

namespace tra {

// Says what a row of a rule's input belongs to.
enum class InputRows : uint8_t { kNone, kQueries, kKeys, kDistances };

struct RuleInfo {
  ScoreRule rule;
  const char* name;
  const char* input;         // its name in messages; empty where the rule takes none
  const char* input_layout;  // its shape in messages
  InputRows rows;
  size_t max_table;          // bounds AttentionShape::table, the input's last dimension; 0: there is no table
  bool input_is_log_gate;    // so it must be at most 0
  bool bounded;              // QK-norm bounds its logits, so they need no running maximum
  bool takes_logit_dropout;  // dropout may fall on its logits
  bool drops_keys;           // keys can leave the softmax, so rows that no query keeps are skipped
  bool stops;                // decay bounds what is left, so the walk may end early
  bool joins;                // a query's keys can be computed in segments that are joined afterwards
};

constexpr size_t kAnyTable = ~size_t{0};

constexpr std::array<RuleInfo, 5> kRules = {{
    // rule, name, input, layout, rows, table | log gate, bounded, logit dropout, drops keys, stops, joins
    {ScoreRule::kSoftmax, "softmax", "", "", InputRows::kNone, 0, false, true, true, false, false, true},
    {ScoreRule::kThreshold, "threshold", "log_gate", "[batch, head, query]", InputRows::kQueries, 0, true, true, true,
     true, true, true},
    {ScoreRule::kForget, "forget", "log_forget", "[batch, head, key]", InputRows::kKeys, 0, true, false, false, false,
     false, true},
    {ScoreRule::kDistance, "distance", "bias", "[head, distance]", InputRows::kDistances, kAnyTable, false, false,
     false, false, false, true},
    {ScoreRule::kContextual, "contextual", "position_logits", "[batch, head, query, position]", InputRows::kQueries,
     kMaxTable, false, false, false, false, false, false},
}};

constexpr const RuleInfo& InfoOf(ScoreRule rule) { return kRules[static_cast<size_t>(rule)]; }

constexpr bool RulesAreInOrder() {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].rule) != i) return false;
  }
  return true;
}
static_assert(RulesAreInOrder(), "a rule's row stands where its value in ScoreRule says");

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_RULES_H_
