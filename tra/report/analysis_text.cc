// Writes analyses for reading, as Markdown whose columns are aligned in a terminal too.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tra/report/aligned_table.h"
#include "tra/report/analysis.h"
#include "tra/report/measure.h"
#include "tra/report/renderers.h"

namespace tra {
namespace {

using Row = std::vector<std::string>;

std::string Number(std::optional<double> value, int decimals) { return value ? Printed(*value, decimals) : ""; }
std::string Percent(std::optional<double> share) { return share ? Printed(100 * *share, 1) : ""; }

// "0.93 ± 0.05"; nothing for what does not apply.
std::string WithDeviation(std::optional<double> mean, std::optional<double> deviation) {
  return Number(mean, 3) + (deviation ? " ± " + Number(deviation, 3) : "");
}

// "63.0 / 0.41": how many percent are kept, and the weight; without a threshold only the weight.
std::string KeptAndWeight(const PairsAnalysis& pairs) {
  return Percent(pairs.kept) + (pairs.kept && pairs.weight ? " / " : "") + Number(pairs.weight, 3);
}

std::string HeadsTable(const Analysis& run) {
  std::vector<Row> rows = {{"head", "keys kept, %", "rows without, %", "gate", "log gate", "distance in kept keys",
                            "in tokens", "skipped, %"}};
  for (const HeadAnalysis& head : run.heads) {
    rows.push_back({head.name.Text(), Percent(head.density), Percent(head.empty_rows),
                    WithDeviation(head.gate, head.gate_deviation),
                    WithDeviation(head.log_gate, head.log_gate_deviation), Number(head.kept_distance, 2),
                    Number(head.token_distance, 2), Percent(head.skipped)});
  }
  return AlignedTable(rows) + "\n";
}

std::string CorrelationSentence(const std::vector<Analysis>& runs) {
  const Correlation correlation = SparsityAndGate(runs);
  if (correlation.n == 0) return "";
  const std::string of = "Sparsity (1 - share of keys kept) and mean gate over " + std::to_string(correlation.n) +
                         (correlation.n == 1 ? " head" : " heads");
  if (!correlation.of_values) {
    return of + ": no correlation, " +
           (correlation.n < 3 ? "since that takes three heads" : "one of them is constant") + ".\n\n";
  }
  return of + ": correlation " + Number(correlation.of_values, 2) + ", of ranks " + Number(correlation.of_ranks, 2) +
         " (the paper expects it to be positive).\n\n";
}

// Returns a table by step, with a column for each head.
std::string PairsTable(const Analysis& run, PairsAnalysis HeadEvidence::*pairs) {
  std::vector<Row> rows = {{"step", "right, %"}};
  for (const HeadAnalysis& head : run.heads) rows[0].push_back(head.name.Text());
  for (const EvidenceAnalysis& step : run.evidence) {
    Row row = {std::to_string(step.step), Percent(step.right)};
    for (const HeadEvidence& head : step.heads) row.push_back(KeptAndWeight(head.*pairs));
    rows.push_back(std::move(row));
  }
  return AlignedTable(rows) + "\n";
}

bool HasThreshold(const Analysis& run) {
  return std::any_of(run.heads.begin(), run.heads.end(), [](const HeadAnalysis& head) { return head.density; });
}

std::string EvidenceText(const Analysis& run) {
  if (run.evidence.empty()) return "";
  const std::string what =
      HasThreshold(run) ? "pairs whose key is kept in percent / mean weight of the key" : "mean weight of the key";
  return "Evidence of " + std::to_string(run.evidence.back().answers) +
         " answers by head (the query that answers, where the answer can be read): " + what + "\n\n" +
         PairsTable(run, &HeadEvidence::evidence) +
         "Links by head (where the answer can be read, the mark beside it that says so): the same\n\n" +
         PairsTable(run, &HeadEvidence::links);
}

std::string StretchTable(const Analysis& run) {
  std::vector<Row> rows = {{"length", "examples", "tokens", "answers", "right, %", "as at first, %"}};
  for (const StretchAnalysis& each : run.stretched) {
    Row row = {std::to_string(each.factor) + "x", std::to_string(each.examples)};
    if (each.examples > 0) {
      for (const std::string& cell :
           {Printed(each.tokens, 0), std::to_string(each.answers), Percent(each.right), Percent(each.same)}) {
        row.push_back(cell);
      }
    }
    row.resize(rows[0].size());
    rows.push_back(std::move(row));
  }
  return AlignedTable(rows) + "\n";
}

// Returns the analysis of the longest length of which there are examples; null if there is none.
const StretchAnalysis* Longest(const Analysis& run) {
  const StretchAnalysis* longest = nullptr;
  for (const StretchAnalysis& each : run.stretched) {
    if (each.examples > 0 && (longest == nullptr || each.factor > longest->factor)) longest = &each;
  }
  return longest;
}

std::string StretchedHeadsTable(const Analysis& run) {
  const StretchAnalysis* longest = Longest(run);
  if (longest == nullptr) return "";
  std::vector<Row> rows = {{"head", "same kept, %", "overlap, %", "inserted kept, %", "change of count to evidence",
                            "evidence at first", "evidence then"}};
  for (size_t i = 0; i < longest->heads.size(); ++i) {
    const HeadStretch& head = longest->heads[i];
    rows.push_back({run.heads[i].name.Text(), Percent(head.same_kept), Percent(head.overlap),
                    Percent(head.inserted_kept), Number(head.count_change, 2),
                    KeptAndWeight(run.evidence.back().heads[i].evidence), KeptAndWeight(head.evidence)});
  }
  return "Rows that answer, by head, at " + std::to_string(longest->factor) + " times the length\n\n" +
         AlignedTable(rows) + "\n";
}

std::string StretchText(const Analysis& run) {
  if (run.stretched.empty()) return "";
  return "The same examples with irrelevant tokens inserted\n\n" + StretchTable(run) + StretchedHeadsTable(run);
}

std::string RunText(const Analysis& run) {
  std::string out = "## " + EscapeMarkdown(run.run) + "\n\n";
  out += run.attention + " on " + run.task + ", seed " + std::to_string(run.seed) + ", step " +
         std::to_string(run.step) + (run.label.empty() ? "" : ", " + EscapeMarkdown(run.label)) +
         (run.solved ? *run.solved ? ", solves its task" : ", does not solve its task" : "") + "; " +
         std::to_string(run.examples) + (run.evidence.empty() ? " windows" : " examples") + " of split " + run.split +
         ". Heads are named LAYER.HEAD.\n\n";
  out += HeadsTable(run) + CorrelationSentence({run}) + EvidenceText(run) + StretchText(run);
  for (const std::string& note : run.notes) out += "Note: " + EscapeMarkdown(note) + ".\n\n";
  return out;
}

using Value = std::optional<double> PairsAnalysis::*;

// Returns the largest value that a head of this layer has: the head that does the most.
std::optional<double> Best(const Analysis& run, const EvidenceAnalysis& step, int64_t layer,
                           PairsAnalysis HeadEvidence::*pairs, Value value) {
  std::optional<double> best;
  for (size_t i = 0; i < step.heads.size(); ++i) {
    const std::optional<double> each = step.heads[i].*pairs.*value;
    if (run.heads[i].name.layer == layer && each && (!best || *each > *best)) best = each;
  }
  return best;
}

int64_t Layers(const std::vector<Analysis>& runs) {
  int64_t layers = 0;
  for (const Analysis& run : runs) {
    for (const HeadAnalysis& head : run.heads) layers = std::max(layers, head.name.layer + 1);
  }
  return layers;
}

std::string YesOrNo(std::optional<bool> solved) { return solved ? *solved ? "yes" : "no" : ""; }

// Returns a table with a row per run: for each layer what its best head did at the first and at the last step.
std::string RunsTable(const std::vector<Analysis>& runs, Value value,
                      const std::function<std::string(std::optional<double>)>& show) {
  const int64_t layers = Layers(runs);
  std::vector<Row> rows = {{"run", "solved", "right, %"}};
  for (const char* pairs : {"evidence", "links"}) {
    for (int64_t layer = 0; layer < layers; ++layer) rows[0].push_back(pairs + (", layer " + std::to_string(layer)));
  }
  bool any = false;
  for (const Analysis& run : runs) {
    if (run.evidence.empty()) continue;
    const EvidenceAnalysis &first = run.evidence.front(), &last = run.evidence.back();
    Row row = {EscapeMarkdown(run.run), YesOrNo(run.solved), Percent(last.right)};
    for (const auto pairs : {&HeadEvidence::evidence, &HeadEvidence::links}) {
      for (int64_t layer = 0; layer < layers; ++layer) {
        const std::string end = show(Best(run, last, layer, pairs, value));
        any = any || !end.empty();
        row.push_back(end.empty() ? "" : show(Best(run, first, layer, pairs, value)) + " → " + end);
      }
    }
    rows.push_back(std::move(row));
  }
  return any ? AlignedTable(rows) + "\n" : "";
}

// Returns a table with a row per run at its longest length: for each layer, what of the inserted tokens is kept by the
// head that gives the evidence the most weight.
std::string LongestTable(const std::vector<Analysis>& runs) {
  std::vector<Row> rows = {{"run", "solved", "length", "right, %"}};
  const int64_t layers = std::any_of(runs.begin(), runs.end(), &HasThreshold) ? Layers(runs) : 0;
  for (int64_t layer = 0; layer < layers; ++layer) rows[0].push_back("inserted kept, layer " + std::to_string(layer));
  for (const Analysis& run : runs) {
    const StretchAnalysis* longest = Longest(run);
    if (longest == nullptr) continue;
    std::vector<std::optional<double>> most(static_cast<size_t>(layers)), kept(most.size());
    for (size_t i = 0; i < longest->heads.size() && layers > 0; ++i) {
      const HeadStretch& head = longest->heads[i];
      const auto layer = static_cast<size_t>(run.heads[i].name.layer);
      if (most[layer] && !(head.evidence.weight > most[layer])) continue;
      most[layer] = head.evidence.weight;
      kept[layer] = head.inserted_kept;
    }
    Row row = {EscapeMarkdown(run.run), YesOrNo(run.solved), std::to_string(longest->factor) + "x",
               Percent(longest->right)};
    for (const std::optional<double>& share : kept) row.push_back(Percent(share));
    rows.push_back(std::move(row));
  }
  return rows.size() > 1 ? AlignedTable(rows) + "\n" : "";
}

std::string RunsText(const std::vector<Analysis>& runs) {
  std::string out = "## All runs\n\n" + CorrelationSentence(runs);
  const auto weight = [](std::optional<double> value) { return Number(value, 3); };
  const auto add = [&](const std::string& title, const std::string& table) {
    if (!table.empty()) out += title + "\n\n" + table;
  };
  add("Pairs kept in percent, by the head of a layer that keeps the most: first step → last step",
      RunsTable(runs, &PairsAnalysis::kept, &Percent));
  add("Mean weight, by the head of a layer that gives the most: first step → last step",
      RunsTable(runs, &PairsAnalysis::weight, weight));
  add("Longest examples: inserted tokens kept in percent, by the head of a layer that gives the evidence the most "
      "weight",
      LongestTable(runs));
  return out;
}

}  // namespace

std::string HeadName::Text() const {
  return std::to_string(layer) + "." + std::to_string(head) + (attention > 0 ? "-" : "");
}

Correlation SparsityAndGate(const std::vector<Analysis>& runs) {
  std::vector<std::pair<double, double>> points;
  for (const Analysis& run : runs) {
    for (const HeadAnalysis& head : run.heads) {
      if (head.density && head.gate) points.emplace_back(1 - *head.density, *head.gate);
    }
  }
  return Correlate(points);
}

std::string AnalysisMarkdown(const std::vector<Analysis>& runs) {
  std::string out;
  for (const Analysis& run : runs) out += RunText(run);
  if (runs.size() > 1) out += RunsText(runs);
  return out;
}

}  // namespace tra
