#include "tra/eval/scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tra/model/evaluation_mode.h"
#include "tra/tasks/part_tensors.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

void RequireFinite(double loss, const std::string& where) {
  if (!std::isfinite(loss)) {
    throw NotFinite("evaluation: the loss is " + std::to_string(loss) + " at " + where +
                    "; the weights are damaged or training diverged");
  }
}

// Returns the losses of a part, contiguous on the CPU.
PositionLosses ComputeLosses(Decoder& model, BatchPart& part) {
  constexpr uint64_t kSeed = 0;  // for labels, the same for all models
  const PartTensors view = ViewPart(part, model.Device());
  const Pass pass{{kSeed, view.sequence_ids}, view.lengths};
  const PositionLosses each = TokenLosses(model.Hidden(view.tokens, pass), model.Head(), view.targets);
  return {each.losses.cpu().contiguous(), each.correct.cpu().contiguous()};
}

// Returns the number of the bucket that a position is in: 0, 1, 2..3, 4..7, ...
size_t BucketOf(int64_t position) {
  size_t bucket = 0;
  for (; position > 0; position >>= 1) ++bucket;
  return bucket;
}

}  // namespace

void AddRows(const RowPlace& place, const ExampleScore& score, std::vector<ResultRow>& rows) {
  const auto add = [&](const char* metric, double sum, double n) {
    rows.push_back({place.split, place.group, place.window, metric, sum / n, static_cast<int64_t>(n)});
  };
  add("em", score.exact, score.examples);
  add("token_error", score.wrong, score.answers);
  add("loss", score.loss, score.answers);
}

void AddRows(const RowPlace& place, const TokenScore& score, std::vector<ResultRow>& rows) {
  const double loss = score.loss / score.tokens;
  const auto n = static_cast<int64_t>(score.tokens);
  rows.push_back({place.split, place.group, place.window, "ppl_token", std::exp(loss), n});
  rows.push_back({place.split, place.group, place.window, "loss", loss, n});
}

std::vector<ExampleScore> ScoreExamples(Decoder& model, const ExampleSource& source, uint64_t first, int64_t count,
                                        size_t groups, int64_t positions) {
  const c10::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
  constexpr int64_t kChunk = 256;  // examples that are sorted by length together
  std::vector<ExampleScore> scores(std::max<size_t>(1, groups));
  BatchOptions options;
  options.part_positions = positions;
  for (int64_t done = 0; done < count; done += kChunk) {
    const uint64_t begin = first + static_cast<uint64_t>(done);
    Batch batch = MakeBatch(source, begin, std::min(kChunk, count - done), options);
    for (BatchPart& part : batch.parts) {
      const PositionLosses result = ComputeLosses(model, part);
      const auto* loss = result.losses.data_ptr<double>();
      const auto* right = result.correct.data_ptr<bool>();
      for (int64_t row = 0; row < part.rows; ++row) {
        ExampleScore& score = scores.at(static_cast<size_t>(part.groups[static_cast<size_t>(row)]));
        double wrong = 0;
        for (int64_t at = row * part.columns; at < (row + 1) * part.columns; ++at) {
          if (part.targets[static_cast<size_t>(at)] == kUnsupervised) continue;
          ++score.answers;
          wrong += right[at] ? 0 : 1;
          score.loss += loss[at];
        }
        RequireFinite(score.loss, "example " + std::to_string(part.sequence_ids[static_cast<size_t>(row)]));
        ++score.examples;
        score.wrong += wrong;
        score.exact += wrong == 0 ? 1 : 0;
      }
    }
  }
  return scores;
}

TextScore ScoreText(Decoder& model, const TokenFile& tokens, int64_t window, int64_t stride, const WindowRange& range,
                    int64_t positions) {
  const c10::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
  const int64_t most_rows = std::max<int64_t>(1, positions / window);
  TextScore score;
  score.buckets.resize(BucketOf(window - 1) + 1);
  for (int64_t next = range.first; next < range.end;) {
    // All rows must have the same length: only the last window may be shorter.
    BatchPart part;
    const int64_t first_token = GetEvalWindow(tokens.Size(), window, stride, next).begin;
    for (; next < range.end && part.rows < most_rows; next += range.every) {
      const EvalWindow each = GetEvalWindow(tokens.Size(), window, stride, next);
      if (part.rows > 0 && each.length != part.columns) break;
      ++part.rows;
      part.columns = each.length;
      part.sequence_ids.push_back(next);
      part.lengths.push_back(each.length);
      std::vector<int64_t> ids(static_cast<size_t>(each.length) + 1);
      tokens.Read(each.begin, each.length + 1, ids.data());
      part.tokens.insert(part.tokens.end(), ids.begin(), ids.end() - 1);
      std::fill(ids.begin() + 1, ids.begin() + 1 + each.first_scored, kUnsupervised);
      part.targets.insert(part.targets.end(), ids.begin() + 1, ids.end());
    }
    const PositionLosses result = ComputeLosses(model, part);
    const auto* loss = result.losses.data_ptr<double>();
    for (size_t at = 0; at < part.targets.size(); ++at) {
      if (part.targets[at] == kUnsupervised) continue;
      for (TokenScore* each : {&score.all, &score.buckets[BucketOf(static_cast<int64_t>(at) % part.columns)]}) {
        ++each->tokens;
        each->loss += loss[at];
      }
    }
    RequireFinite(score.all.loss, "token " + std::to_string(first_token));
  }
  return score;
}

}  // namespace tra
