#include "tra/eval/evaluate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tra/base/fields.h"
#include "tra/eval/scores.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

// Ends a round: adds `values`, summed over the processes, to `sums`. Throws EvaluationStopped if any process asks to
// stop.
void EndRound(const EvaluateOptions& options, std::vector<double> values, std::vector<double>& sums) {
  values.push_back(options.stop && options.stop() ? 1 : 0);
  if (options.sum) options.sum(values);
  if (values.back() > 0) throw EvaluationStopped();
  sums.resize(values.size() - 1, 0.0);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

// Returns "300-300" for the split iid, and "sparse 20-20" for others.
std::string LengthsName(const std::string& split, const Range& lengths) {
  const std::string name = std::to_string(lengths.low) + "-" + std::to_string(lengths.high);
  return split == "iid" ? name : split + " " + name;
}

std::vector<ResultRow> EvaluateExamples(Decoder& model, const RunData& data, const RunConfig& config,
                                        const EvaluateOptions& options) {
  std::vector<ResultRow> rows;
  const std::vector<std::string>& groups = data.Groups();
  for (const std::string& split : options.splits.empty() ? data.EvalSplits() : options.splits) {
    const std::shared_ptr<const ExampleSource> examples = data.Eval(split, options.lengths);
    const int64_t wanted = options.most > 0 ? options.most : config.eval.examples;
    const int64_t count = std::min(wanted, static_cast<int64_t>(examples->Size().value_or(wanted)));
    const std::string name = options.lengths ? LengthsName(split, *options.lengths) : split;
    if (options.progress) options.progress(name);
    constexpr int64_t kRound = 256;  // examples per process
    std::vector<double> sums;
    for (int64_t done = 0; done < count; done += kRound * options.shares) {
      const int64_t first = std::min(count, done + kRound * options.share), end = std::min(count, first + kRound);
      std::vector<double> values;
      for (const ExampleScore& score : ScoreExamples(model, *examples, static_cast<uint64_t>(first), end - first,
                                                     groups.size(), config.eval.positions)) {
        AppendFields(score, values);
      }
      EndRound(options, std::move(values), sums);
    }
    ExampleScore all;
    std::vector<ExampleScore> scores(sums.size() / CountFields<ExampleScore>());
    for (size_t i = 0; i < scores.size(); ++i) {
      ReadFields(sums, i * CountFields<ExampleScore>(), scores[i]);
      AddFields(scores[i], all);
    }
    AddRows({name, "", 0}, all, rows);
    for (size_t i = 0; i < groups.size(); ++i) {
      if (scores[i].examples > 0) AddRows({name, groups[i], 0}, scores[i], rows);
    }
  }
  return rows;
}

std::string BucketName(size_t bucket) {
  const int64_t low = bucket == 0 ? 0 : int64_t{1} << (bucket - 1), high = bucket == 0 ? 0 : 2 * low - 1;
  return "at " + std::to_string(low) + (high > low ? "-" + std::to_string(high) : "");
}

std::vector<int64_t> BytesOfTokens(const Tokenizer& tokenizer) {
  std::vector<int64_t> bytes;
  for (int32_t id = 0; id < tokenizer.Vocabulary(); ++id) {
    bytes.push_back(static_cast<int64_t>(tokenizer.Bytes(id).size()));
  }
  return bytes;
}

std::vector<ResultRow> EvaluateText(Decoder& model, const RunData& data, const RunConfig& config,
                                    const EvaluateOptions& options) {
  std::vector<ResultRow> rows;
  const std::string split = options.text_split.empty() ? config.eval.text_split : options.text_split;
  const TokenFile& tokens = data.Text(split);
  const std::vector<int64_t> token_bytes = BytesOfTokens(data.tokenizer());
  const int64_t given = options.stride.value_or(config.eval.stride);
  for (const int64_t window : options.windows.empty() ? config.eval.windows : options.windows) {
    if (options.progress) options.progress(split + " at window " + std::to_string(window));
    const int64_t stride = given > 0 ? std::min(given, window) : window;
    const int64_t all = EvalWindowCount(tokens.Size(), window, stride);
    const int64_t count = options.most > 0 ? std::min(all, options.most) : all;
    const int64_t round = options.shares * std::max<int64_t>(1, config.eval.positions / window);  // one batch each
    std::vector<double> sums;
    for (int64_t done = 0; done < count; done += round) {
      const WindowRange range = {done + options.share, std::min(count, done + round), options.shares};
      const TextScore score = ScoreText(model, tokens, token_bytes, window, stride, range, config.eval.positions);
      std::vector<double> values;
      AppendFields(score.all, values);
      for (const TokenScore& bucket : score.buckets) AppendFields(bucket, values);
      EndRound(options, std::move(values), sums);
    }
    TokenScore total;
    ReadFields(sums, 0, total);
    AddRows({split, "", window}, total, rows);
    if (static_cast<int64_t>(total.tokens) == tokens.Size() - 1) {
      const int64_t words = tokens.Info().words + tokens.Info().lines;
      rows.push_back({split, "", window, "ppl_word", std::exp(total.loss / static_cast<double>(words)), words});
    }
    for (size_t i = 0; (i + 2) * CountFields<TokenScore>() <= sums.size(); ++i) {
      TokenScore bucket;
      ReadFields(sums, (i + 1) * CountFields<TokenScore>(), bucket);
      if (bucket.tokens == 0) continue;
      AddRows({split, BucketName(i), window}, bucket, rows);
    }
  }
  return rows;
}

}  // namespace

std::vector<ResultRow> Evaluate(Decoder& model, const RunData& data, const RunConfig& config,
                                const EvaluateOptions& options) {
  return data.IsText() ? EvaluateText(model, data, config, options) : EvaluateExamples(model, data, config, options);
}

RunResults MakeResults(const RunConfig& config, const RunData& data, int64_t step, std::vector<ResultRow> rows,
                       const EvaluateOptions& options) {
  RunResults results;
  results.task = TaskName(config.data);
  results.attention = config.model.attention;
  results.label = config.label;
  results.seed = config.train.seed;
  results.step = step;
  results.rows = std::move(rows);
  results.context["eval_seed"] = config.eval.seed;
  if (data.IsText()) {
    results.context["tokenizer"] = data.tokenizer().Name();
    results.context["vocabulary"] = data.tokenizer().Vocabulary();
    const int64_t stride = options.stride.value_or(config.eval.stride);
    results.context["stride"] = stride > 0 ? nlohmann::ordered_json(stride) : "window";
    results.context["train_window"] = config.data.window;
  }
  return results;
}

std::optional<double> WorstExactMatch(const std::vector<ResultRow>& rows) {
  std::optional<double> worst;
  for (const ResultRow& row : rows) {
    if (row.metric == "em" && row.group.empty()) worst = std::min(worst.value_or(1.0), row.value);
  }
  return worst;
}

}  // namespace tra
