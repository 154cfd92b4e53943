#include "tra/inspect/analysis.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "tra/inspect/head_rows.h"
#include "tra/inspect/running_mean.h"
#include "tra/kernels/attention/rules.h"
#include "tra/report/results.h"
#include "tra/report/success.h"
#include "tra/run/files.h"
#include "tra/tasks/task.h"

namespace tra {
namespace {

constexpr int64_t kMostTimesAsLong = 1024;

// Counts how often something holds, each time it could.
struct Share {
  int64_t hits = 0, n = 0;

  void Add(bool hit) {
    hits += hit ? 1 : 0;
    ++n;
  }
  std::optional<double> Value() const {
    return n > 0 ? std::optional(static_cast<double>(hits) / static_cast<double>(n)) : std::nullopt;
  }
};

// Lists the heads of a model, in the order of Analysis::heads.
std::vector<HeadId> HeadsOf(const AttentionRecord& record) {
  std::vector<HeadId> heads;
  for (size_t layer = 0; layer < record.layers.size(); ++layer) {
    for (size_t attention = 0; attention < record.layers[layer].size(); ++attention) {
      for (int64_t head = 0; head < record.layers[layer][attention].Heads(); ++head) {
        heads.push_back({static_cast<int64_t>(layer), head, static_cast<int64_t>(attention)});
      }
    }
  }
  return heads;
}

const RuleInfo& RuleOf(const Inspection& inspection, const HeadId& head) {
  return InfoOf(inspection.Attention(head).inputs.rule);
}

// Runs the model on what it reads of an example: the last token is never read, only predicted, but in windows of text.
Inspection Read(const InspectedRun& run, const Example& example) {
  std::vector<int32_t> tokens = example.tokens;
  if (!run.IsText()) tokens.pop_back();
  return run.Inspect(tokens);
}

bool IsRight(const Inspection& inspection, const Example& example, size_t query) {
  return inspection.predictions[query].token == example.tokens[query + 1];
}

// Sums up what a head does in all rows of many examples.
struct HeadSums {
  Share kept, empty, skipped;
  RunningMean gate, log_gate, kept_distance, token_distance;

  void AddRow(const HeadRow& row) {
    int64_t count = 0;
    double all = 0, positions = 0, tokens = 0;
    for (size_t key = 0; key < row.Keys(); ++key) {
      count += row.Keeps(key) ? 1 : 0;
      const double weight = row.weight[key];
      all += weight;
      positions += weight * row.position[key];
      tokens += weight * static_cast<double>(row.query - key);
    }
    kept.hits += count;
    kept.n += static_cast<int64_t>(row.Keys());
    empty.Add(count == 0);
    skipped.hits += static_cast<int64_t>(row.stopped_at);
    skipped.n += static_cast<int64_t>(row.Keys());
    if (all == 0) return;
    kept_distance.Add(positions / all);  // the walk may have left out up to stop_eps of the weight
    token_distance.Add(tokens / all);
  }

  void AddGates(const AttentionInputs& inputs, int64_t head) {
    const at::Tensor gates = inputs.rule_input[0][head].to(at::kDouble).contiguous();
    for (int64_t i = 0; i < gates.numel(); ++i) {
      const double each = gates.data_ptr<double>()[i];
      log_gate.Add(each);
      gate.Add(std::exp(each));
    }
  }

  HeadAnalysis Means(const HeadId& head, const RuleInfo& rule) const {
    HeadAnalysis means;
    means.name = {head.layer, head.attention, head.head};
    if (rule.drops_keys) {
      means.density = kept.Value();
      means.empty_rows = empty.Value();
      means.kept_distance = kept_distance.Mean();
    }
    if (rule.input_is_log_gate) {
      means.gate = gate.Mean();
      means.gate_deviation = gate.Deviation();
      means.log_gate = log_gate.Mean();
      means.log_gate_deviation = log_gate.Deviation();
    }
    if (rule.stops) means.skipped = skipped.Value();
    means.token_distance = token_distance.Mean();
    return means;
  }
};

std::vector<HeadAnalysis> AnalyzeHeads(const InspectedRun& run, const std::vector<Example>& examples) {
  std::vector<HeadSums> sums;
  std::vector<HeadAnalysis> means;
  for (const Example& example : examples) {
    const Inspection inspection = Read(run, example);
    const std::vector<HeadId> heads = HeadsOf(inspection.record);
    sums.resize(heads.size());
    std::vector<size_t> queries(inspection.tokens.size());
    std::iota(queries.begin(), queries.end(), size_t{0});
    means.clear();
    for (size_t i = 0; i < heads.size(); ++i) {
      VisitRows(inspection, heads[i], queries, [&](const HeadRow& row) { sums[i].AddRow(row); });
      const RuleInfo& rule = RuleOf(inspection, heads[i]);
      if (rule.input_is_log_gate) sums[i].AddGates(inspection.Attention(heads[i]).inputs, heads[i].head);
      means.push_back(sums[i].Means(heads[i], rule));
    }
  }
  return means;
}

struct PairSums {
  Share kept;
  RunningMean weight;

  void Add(const HeadRow& row, size_t key) {
    kept.Add(row.Keeps(key));
    weight.Add(row.weight[key]);
  }
  PairsAnalysis Means(const RuleInfo& rule) const {
    return {rule.drops_keys ? kept.Value() : std::nullopt, weight.Mean()};
  }
};

// Looks at the pairs of all answers of the examples with the weights of one step.
EvidenceAnalysis AnalyzeEvidence(const InspectedRun& run, const std::vector<Example>& examples) {
  struct HeadPairs {
    PairSums evidence, links;
  };
  std::vector<HeadPairs> sums;
  EvidenceAnalysis analysis;
  Share right;
  for (const Example& example : examples) {
    const Inspection inspection = Read(run, example);
    const std::vector<HeadId> heads = HeadsOf(inspection.record);
    sums.resize(heads.size());
    std::multimap<size_t, size_t> evidence, links;  // keys by query; a pair counts once for each answer it is for
    std::set<size_t> queries;
    for (const Evidence& each : run.task()->kind.evidence(example)) {
      right.Add(IsRight(inspection, example, each.query));
      queries.insert(each.query);
      for (const size_t key : each.keys) evidence.emplace(each.query, key);
      for (const Link& link : each.links) {
        queries.insert(link.query);
        links.emplace(link.query, link.key);
      }
    }
    analysis.heads.clear();
    for (size_t i = 0; i < heads.size(); ++i) {
      VisitRows(inspection, heads[i], {queries.begin(), queries.end()}, [&](const HeadRow& row) {
        for (auto [it, end] = evidence.equal_range(row.query); it != end; ++it) sums[i].evidence.Add(row, it->second);
        for (auto [it, end] = links.equal_range(row.query); it != end; ++it) sums[i].links.Add(row, it->second);
      });
      const RuleInfo& rule = RuleOf(inspection, heads[i]);
      analysis.heads.push_back({sums[i].evidence.Means(rule), sums[i].links.Means(rule)});
    }
  }
  analysis.step = run.step();
  analysis.answers = right.n;
  analysis.right = right.Value().value_or(0);
  return analysis;
}

// Looks at the evidence before training, at every checkpoint there is, and with the weights of `run`.
std::vector<EvidenceAnalysis> AnalyzeTraining(const InspectedRun& run, const std::vector<Example>& examples,
                                              const AnalyzeOptions& options) {
  std::vector<EvidenceAnalysis> analyses;
  if (options.over_training) {
    std::set<int64_t> steps = {0};
    for (const Checkpoint& each : ListCheckpoints(run.path())) steps.insert(each.step);
    for (const int64_t step : steps) {
      if (step >= run.step()) break;
      try {
        const InspectedRun earlier(run.path(), run.model().Device(), run.warning(), step);
        analyses.push_back(AnalyzeEvidence(earlier, examples));
      } catch (const std::runtime_error& error) {  // one that is damaged or gone says nothing about the others
        if (run.warning()) run.warning()("step " + std::to_string(step) + " is left out: " + error.what());
      }
    }
  }
  analyses.push_back(AnalyzeEvidence(run, examples));
  return analyses;
}

// Holds which of the original tokens a head keeps in a row that answers, and the count to the evidence.
struct AnsweringRow {
  std::vector<bool> kept;
  std::vector<std::optional<double>> counts;  // by key of the evidence; nothing if it is dropped
};

// Returns the rows of the answers in their order, given where the tokens of the original are. Adds the keys that were
// inserted to `inserted`, and the evidence to `pairs`.
std::vector<AnsweringRow> AnsweringRows(const Inspection& inspection, const HeadId& head,
                                        const std::vector<size_t>& places, const std::vector<Evidence>& evidence,
                                        Share& inserted, PairSums& pairs) {
  std::vector<size_t> queries;
  queries.reserve(evidence.size());
  for (const Evidence& each : evidence) queries.push_back(each.query);
  std::vector<AnsweringRow> rows;
  VisitRows(inspection, head, queries, [&](const HeadRow& row) {
    AnsweringRow answering;
    int64_t all_kept = 0;
    for (size_t key = 0; key < row.Keys(); ++key) all_kept += row.Keeps(key) ? 1 : 0;
    for (const size_t place : places) {
      if (place > row.query) break;
      answering.kept.push_back(row.Keeps(place));
      all_kept -= answering.kept.back() ? 1 : 0;
    }
    inserted.hits += all_kept;
    inserted.n += static_cast<int64_t>(row.Keys() - answering.kept.size());
    for (const size_t key : evidence[rows.size()].keys) {
      pairs.Add(row, key);
      answering.counts.push_back(row.Keeps(key) ? std::optional<double>(row.position[key]) : std::nullopt);
    }
    rows.push_back(std::move(answering));
  });
  return rows;
}

struct StretchSums {
  Share same_kept, inserted;
  RunningMean overlap, count_change;
  PairSums evidence;

  void Compare(const AnsweringRow& original, const AnsweringRow& stretched) {
    same_kept.Add(original.kept == stretched.kept);
    int64_t both = 0, either = 0;
    for (size_t i = 0; i < original.kept.size(); ++i) {
      both += original.kept[i] && stretched.kept[i] ? 1 : 0;
      either += original.kept[i] || stretched.kept[i] ? 1 : 0;
    }
    overlap.Add(either == 0 ? 1.0 : static_cast<double>(both) / static_cast<double>(either));
    for (size_t i = 0; i < original.counts.size(); ++i) {
      if (original.counts[i] && stretched.counts[i]) count_change.Add(*stretched.counts[i] - *original.counts[i]);
    }
  }

  HeadStretch Means(const RuleInfo& rule) const {
    HeadStretch means;
    means.evidence = evidence.Means(rule);
    if (!rule.drops_keys) return means;
    means.same_kept = same_kept.Value();
    means.overlap = overlap.Mean();
    means.inserted_kept = inserted.Value();
    means.count_change = count_change.Mean();
    return means;
  }
};

// Compares examples made `factor` times as long with the original ones.
class StretchComparison {
 public:
  explicit StretchComparison(int64_t factor) { analysis_.factor = factor; }

  // Takes the example number `index`, which `original` was read from.
  void Add(const InspectedRun& run, const Inspection& original, const Example& example, uint64_t index) {
    const Task& task = *run.task();
    const DataConfig& data = run.config().data;
    Random random(run.config().eval.seed, FirstOf(Stream::kInsertions), index);
    const std::optional<Stretched> stretched =
        task.kind.stretch(example, analysis_.factor, data.symbols > 0 ? data.symbols : task.symbols, random);
    const std::optional<int64_t> longest = LongestSequence(run.model().config);
    if (!stretched) {
      ++not_made_;
    } else if (longest && static_cast<int64_t>(stretched->example.tokens.size()) - 1 > *longest) {
      ++too_long_;
    } else {
      Compare(run, original, example, *stretched);
    }
  }

  StretchAnalysis Means() const {
    StretchAnalysis analysis = analysis_;
    analysis.tokens = tokens_.Mean().value_or(0);
    analysis.answers = right_.n;
    analysis.right = right_.Value().value_or(0);
    analysis.same = same_.Value().value_or(0);
    return analysis;
  }

  // Adds what could not be compared, and why.
  void AddNotes(const InspectedRun& run, std::vector<std::string>& notes) const {
    const std::string times = " " + std::to_string(analysis_.factor) + " times as long: ";
    const std::string all = " of " + std::to_string(analysis_.examples + not_made_ + too_long_) + " examples ";
    if (not_made_ > 0) {
      notes.push_back(std::to_string(not_made_) + all + "cannot be made" + times + "there is no such " +
                      run.task()->name);
    }
    if (too_long_ > 0) {
      notes.push_back(std::to_string(too_long_) + all + "were not made" + times + "the model has positions for " +
                      std::to_string(*LongestSequence(run.model().config)) + " tokens");
    }
  }

 private:
  void Compare(const InspectedRun& run, const Inspection& original, const Example& example,
               const Stretched& stretched) {
    const Inspection inspection = Read(run, stretched.example);
    const std::vector<HeadId> heads = HeadsOf(inspection.record);
    sums_.resize(heads.size());
    ++analysis_.examples;
    tokens_.Add(static_cast<double>(stretched.example.tokens.size()));
    const std::vector<Evidence> before = run.task()->kind.evidence(example);
    const std::vector<Evidence> after = run.task()->kind.evidence(stretched.example);
    for (size_t i = 0; i < after.size(); ++i) {
      right_.Add(IsRight(inspection, stretched.example, after[i].query));
      same_.Add(inspection.predictions[after[i].query].token == original.predictions[before[i].query].token);
    }
    std::vector<size_t> own_places(example.tokens.size());
    std::iota(own_places.begin(), own_places.end(), size_t{0});
    analysis_.heads.clear();
    for (size_t i = 0; i < heads.size(); ++i) {
      Share none_inserted;
      PairSums not_counted;
      const auto rows_before = AnsweringRows(original, heads[i], own_places, before, none_inserted, not_counted);
      const auto rows_after =
          AnsweringRows(inspection, heads[i], stretched.places, after, sums_[i].inserted, sums_[i].evidence);
      for (size_t n = 0; n < rows_before.size(); ++n) sums_[i].Compare(rows_before[n], rows_after[n]);
      analysis_.heads.push_back(sums_[i].Means(RuleOf(inspection, heads[i])));
    }
  }

  StretchAnalysis analysis_;
  std::vector<StretchSums> sums_;
  RunningMean tokens_;
  Share right_, same_;
  int64_t not_made_ = 0, too_long_ = 0;
};

std::vector<StretchAnalysis> AnalyzeStretched(const InspectedRun& run, const std::vector<Example>& examples,
                                              const std::vector<int64_t>& factors, std::vector<std::string>& notes) {
  std::vector<StretchComparison> comparisons(factors.begin(), factors.end());
  for (size_t index = 0; index < examples.size(); ++index) {
    const Inspection original = Read(run, examples[index]);
    for (StretchComparison& each : comparisons) each.Add(run, original, examples[index], index);
  }
  std::vector<StretchAnalysis> analyses;
  for (const StretchComparison& each : comparisons) {
    each.AddNotes(run, notes);
    analyses.push_back(each.Means());
  }
  return analyses;
}

void CheckOptions(const AnalyzeOptions& options) {
  if (options.examples < 1) {
    throw std::invalid_argument("examples must be at least 1, got " + std::to_string(options.examples));
  }
  for (const int64_t factor : options.factors) {
    if (factor >= 1 && factor <= kMostTimesAsLong) continue;
    throw std::invalid_argument("factors must be 1.." + std::to_string(kMostTimesAsLong) + ", got " +
                                std::to_string(factor));
  }
}

// Reads the examples to look at, and notes it if there are fewer than asked for.
std::vector<Example> ReadExamples(InspectedRun& run, const std::string& split, int64_t count,
                                  std::vector<std::string>& notes) {
  const std::optional<uint64_t> size = run.Size(split);
  if (size && *size < static_cast<uint64_t>(count)) {
    count = static_cast<int64_t>(*size);
    notes.push_back("split " + split + " has only " + std::to_string(count) +
                    (run.IsText() ? " windows" : " examples"));
  }
  std::vector<Example> examples;
  for (int64_t index = 0; index < count; ++index) examples.push_back(run.At(split, static_cast<uint64_t>(index)));
  return examples;
}

// Returns the split that is like training, or else the first that is not for training.
std::string DefaultSplit(InspectedRun& run) {
  if (run.IsText()) return run.config().eval.text_split;
  const std::vector<std::string> splits = run.Splits();
  return std::find(splits.begin(), splits.end(), "iid") != splits.end() || splits.size() < 2 ? "iid" : splits[1];
}

}  // namespace

Analysis AnalyzeRun(InspectedRun& run, const AnalyzeOptions& options) {
  CheckOptions(options);
  const RunConfig& config = run.config();
  Analysis analysis;
  analysis.run = run.path();
  analysis.task = TaskName(config.data);
  analysis.attention = config.model.attention;
  analysis.label = config.label;
  analysis.seed = config.train.seed;
  analysis.step = run.step();
  analysis.split = !options.split.empty() ? options.split : DefaultSplit(run);
  const std::string results = run_files::In(run.path(), run_files::kResults);
  if (std::filesystem::exists(results)) analysis.solved = Solved(ReadResults(results));

  const std::vector<Example> examples = ReadExamples(run, analysis.split, options.examples, analysis.notes);
  analysis.examples = static_cast<int64_t>(examples.size());
  const auto tell = [&](const std::string& what) {
    if (options.progress) options.progress(what);
  };
  tell("heads");
  analysis.heads = AnalyzeHeads(run, examples);
  if (run.task() == nullptr) {
    analysis.notes.push_back(std::string(run.IsText() ? "a text does" : "examples from files do") +
                             " not say which tokens determine the next, so there is no evidence to look for");
    return analysis;
  }
  tell("evidence");
  analysis.evidence = AnalyzeTraining(run, examples, options);
  if (run.task()->kind.stretch != nullptr) {
    tell("longer examples");
    analysis.stretched = AnalyzeStretched(run, examples, options.factors, analysis.notes);
  } else if (!options.factors.empty()) {
    analysis.notes.push_back("every symbol of " + analysis.task +
                             " is relevant, so its examples cannot be made longer by others");
  }
  return analysis;
}

}  // namespace tra
