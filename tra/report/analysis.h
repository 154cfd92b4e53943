// Holds what was found out about the heads of a run, and shows it. tra/inspect/analysis.h computes it.
#ifndef TRA_REPORT_ANALYSIS_H_
#define TRA_REPORT_ANALYSIS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tra/report/correlation.h"

namespace tra {

// Names a head: that of diff's second attention, which is subtracted from the first, has `attention` 1, all others 0.
struct HeadName {
  int64_t layer = 0, attention = 0, head = 0;

  std::string Text() const;  // "1.0" is the first head of the second layer, "1.0-" one that is subtracted
};

// Describes how a head attends. What does not apply to a head's rule is nothing: only TRA drops keys and counts the
// kept ones, only TRA and FoT have gates and stop early.
struct HeadAnalysis {
  HeadName name;
  std::optional<double> density;     // share of the causal keys (the key's position is at most the query's) it keeps
  std::optional<double> empty_rows;  // share of the queries that keep no key
  // The gate, one per token (TRA: of the query, FoT: of the key): mean and deviation over tokens, of it and of its log.
  std::optional<double> gate, gate_deviation, log_gate, log_gate_deviation;
  // How far away what it attends to is: the mean distance under the weights, over the queries that keep a key.
  std::optional<double> kept_distance;   // counted in kept keys; the nearest is at 1
  std::optional<double> token_distance;  // query's position - key's position
  std::optional<double> skipped;         // share of the causal keys that lie before the place where the walk stopped
};

// Says what a head makes of pairs (query, key).
struct PairsAnalysis {
  std::optional<double> kept;    // share of the pairs whose key passes the threshold; nothing without a threshold
  std::optional<double> weight;  // mean weight of the key; nothing if there are no pairs
};

struct HeadEvidence {
  PairsAnalysis evidence;  // (the query that answers, where the answer can be read)
  PairsAnalysis links;     // (where the answer can be read, its mark); see tra/tasks/evidence.h
};

// Says what the weights of one step did with the evidence.
struct EvidenceAnalysis {
  int64_t step = 0;  // 0: as initialised
  int64_t answers = 0;
  double right = 0;                 // share of the answers
  std::vector<HeadEvidence> heads;  // in the order of Analysis::heads
};

// Compares the rows that answer in stretched examples with those in the original ones.
struct HeadStretch {
  std::optional<double> same_kept;      // share of the rows that keep the same of the original tokens
  std::optional<double> overlap;        // of the original tokens kept by both, in those kept by either; mean over rows
  std::optional<double> inserted_kept;  // share of the inserted causal keys that are kept
  std::optional<double> count_change;   // mean change of the count of kept keys to the evidence, where both keep it
  PairsAnalysis evidence;
};

struct StretchAnalysis {
  int64_t factor = 1;
  int64_t examples = 0;  // that can be made so long; if 0, the rest means nothing
  double tokens = 0;     // mean length
  int64_t answers = 0;
  double right = 0, same = 0;      // shares of the answers that are right, and that are as in the original example
  std::vector<HeadStretch> heads;  // in the order of Analysis::heads
};

struct Analysis {
  std::string run, task, attention, label, split;
  uint64_t seed = 0;
  int64_t step = 0, examples = 0;
  std::optional<bool> solved;  // by its results.json, if it has one with exact matches
  std::vector<HeadAnalysis> heads;
  std::vector<EvidenceAnalysis> evidence;  // by step: 0, then checkpoints; the last is of `step`. Empty for text.
  std::vector<StretchAnalysis> stretched;  // by factor; empty if the task has no irrelevant tokens
  std::vector<std::string> notes;          // what is missing, and why
};

// Correlates sparsity (1 - density) with the mean gate over the heads that have both. The paper's claim is that sparser
// heads decay less, so that it is positive.
Correlation SparsityAndGate(const std::vector<Analysis>& runs);

nlohmann::ordered_json ToJson(const std::vector<Analysis>& runs);
std::string AnalysisMarkdown(const std::vector<Analysis>& runs);

}  // namespace tra

#endif  // TRA_REPORT_ANALYSIS_H_
