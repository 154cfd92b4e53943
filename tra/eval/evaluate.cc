#include "tra/eval/evaluate.h"

#include <algorithm>
#include <cmath>

#include "tra/eval/scores.h"

namespace tra {
namespace {

void AddOverProcesses(const EvaluateOptions& options, std::vector<double>& values) {
  if (options.sum) options.sum(values);
}

void AddRows(const std::string& split, const std::string& group, const ExampleScore& score,
             std::vector<ResultRow>& rows) {
  const auto examples = static_cast<int64_t>(score.examples), answers = static_cast<int64_t>(score.answers);
  rows.push_back({split, group, 0, "em", score.exact / score.examples, examples});
  rows.push_back({split, group, 0, "token_error", score.wrong / score.answers, answers});
  rows.push_back({split, group, 0, "loss", score.loss / score.answers, answers});
}

std::vector<ResultRow> EvaluateTask(Decoder& model, const RunData& data, const RunConfig& config,
                                    const EvaluateOptions& options) {
  std::vector<ResultRow> rows;
  const auto& groups = data.task().kind.groups;
  const int64_t count = options.most > 0 ? options.most : config.eval.examples;
  for (const std::string& split : options.splits.empty() ? data.EvalSplits() : options.splits) {
    const GeneratedExamples examples = data.Eval(split, options.lengths);
    const std::string name =
        !options.lengths ? split : std::to_string(options.lengths->low) + "-" + std::to_string(options.lengths->high);
    if (options.progress) options.progress(name);
    const int64_t first = count * options.share / options.shares, end = count * (options.share + 1) / options.shares;
    std::vector<ExampleScore> scores =
        ScoreExamples(model, examples, static_cast<uint64_t>(first), end - first, groups.size(), config.eval.positions);
    std::vector<double> sums;
    for (const ExampleScore& s : scores) sums.insert(sums.end(), {s.examples, s.exact, s.answers, s.wrong, s.loss});
    AddOverProcesses(options, sums);
    ExampleScore all;
    for (size_t i = 0; i < scores.size(); ++i) {
      const double* s = sums.data() + 5 * i;
      scores[i] = {s[0], s[1], s[2], s[3], s[4]};
      all = {all.examples + s[0], all.exact + s[1], all.answers + s[2], all.wrong + s[3], all.loss + s[4]};
    }
    AddRows(name, "", all, rows);
    for (size_t i = 0; i < groups.size(); ++i) {
      if (scores[i].examples > 0) AddRows(name, groups[i], scores[i], rows);
    }
  }
  return rows;
}

std::string BucketName(size_t bucket) {
  const int64_t low = bucket == 0 ? 0 : int64_t{1} << (bucket - 1), high = bucket == 0 ? 0 : 2 * low - 1;
  return "at " + std::to_string(low) + (high > low ? "-" + std::to_string(high) : "");
}

std::vector<ResultRow> EvaluateText(Decoder& model, const RunData& data, const RunConfig& config,
                                    const EvaluateOptions& options) {
  std::vector<ResultRow> rows;
  const std::string split = options.text_split.empty() ? config.eval.text_split : options.text_split;
  const TokenFile& tokens = data.Text(split);
  const int64_t given = options.stride.value_or(config.eval.stride);
  for (const int64_t window : options.windows.empty() ? config.eval.windows : options.windows) {
    if (options.progress) options.progress(split + " at window " + std::to_string(window));
    const int64_t stride = given > 0 ? std::min(given, window) : window;
    TextScore score =
        ScoreText(model, tokens, window, stride, options.most, config.eval.positions, options.share, options.shares);
    const size_t buckets = score.bucket_loss.size();
    std::vector<double> sums = {score.tokens, score.loss};
    sums.insert(sums.end(), score.bucket_tokens.begin(), score.bucket_tokens.end());
    sums.insert(sums.end(), score.bucket_loss.begin(), score.bucket_loss.end());
    AddOverProcesses(options, sums);
    const auto scored = static_cast<int64_t>(sums[0]);
    rows.push_back({split, "", window, "ppl_token", std::exp(sums[1] / sums[0]), scored});
    if (scored == tokens.Size() - 1) {
      const int64_t words = tokens.Info().words + tokens.Info().lines;
      rows.push_back({split, "", window, "ppl_word", std::exp(sums[1] / static_cast<double>(words)), words});
    }
    rows.push_back({split, "", window, "loss", sums[1] / sums[0], scored});
    for (size_t i = 0; i < buckets; ++i) {
      const double n = sums[2 + i];
      if (n > 0) {
        rows.push_back({split, BucketName(i), window, "loss", sums[2 + buckets + i] / n, static_cast<int64_t>(n)});
      }
    }
  }
  return rows;
}

}  // namespace

std::vector<ResultRow> Evaluate(Decoder& model, const RunData& data, const RunConfig& config,
                                const EvaluateOptions& options) {
  return data.IsText() ? EvaluateText(model, data, config, options) : EvaluateTask(model, data, config, options);
}

RunResults MakeResults(const RunConfig& config, const RunData& data, int64_t step, std::vector<ResultRow> rows) {
  RunResults results;
  results.task = config.data.task;
  results.attention = config.model.attention;
  results.label = config.label;
  results.seed = config.train.seed;
  results.step = step;
  results.rows = std::move(rows);
  results.context["eval_seed"] = config.eval.seed;
  if (data.IsText()) {
    results.context["tokenizer"] = data.tokenizer().Name();
    results.context["vocabulary"] = data.tokenizer().Vocabulary();
    results.context["stride"] = config.eval.stride > 0 ? nlohmann::ordered_json(config.eval.stride) : "window";
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
