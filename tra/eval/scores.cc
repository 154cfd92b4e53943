#include "tra/eval/scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tra/eval/part_tensors.h"
#include "tra/model/evaluation_mode.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

void RequireFinite(double loss, const std::string& where) {
  if (!std::isfinite(loss)) {
    throw NotFinite("evaluation: the loss is " + std::to_string(loss) + " at " + where +
                    "; the weights are damaged or training diverged");
  }
}

// On the CPU, contiguous.
PositionLosses Losses(Decoder& model, BatchPart& part) {
  constexpr uint64_t kSeed = 0;  // of labels, the same for all models
  const PartTensors view = ViewPart(part, kSeed, model.Device());
  const PositionLosses each = TokenLosses(model.Hidden(view.tokens, view.pass), model.Head(), view.targets);
  return {each.losses.cpu().contiguous(), each.correct.cpu().contiguous()};
}

// Positions 0, 1, 2..3, 4..7, ...
size_t BucketOf(int64_t position) {
  size_t bucket = 0;
  for (; position > 0; position >>= 1) ++bucket;
  return bucket;
}

}  // namespace

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
      const PositionLosses result = Losses(model, part);
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
        RequireFinite(score.loss, "example " + std::to_string(part.indices[static_cast<size_t>(row)]));
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
  score.bucket_tokens.assign(BucketOf(window - 1) + 1, 0.0);
  score.bucket_loss.assign(score.bucket_tokens.size(), 0.0);
  for (int64_t next = range.first; next < range.end;) {
    // Rows of one length: only the last window may be shorter.
    BatchPart part;
    const int64_t first_token = GetEvalWindow(tokens.Size(), window, stride, next).begin;
    for (; next < range.end && part.rows < most_rows; next += range.every) {
      const EvalWindow each = GetEvalWindow(tokens.Size(), window, stride, next);
      if (part.rows > 0 && each.length != part.columns) break;
      ++part.rows;
      part.columns = each.length;
      part.indices.push_back(next);
      part.lengths.push_back(each.length);
      std::vector<int64_t> ids(static_cast<size_t>(each.length) + 1);
      tokens.Read(each.begin, each.length + 1, ids.data());
      part.tokens.insert(part.tokens.end(), ids.begin(), ids.end() - 1);
      std::fill(ids.begin() + 1, ids.begin() + 1 + each.first_scored, kUnsupervised);
      part.targets.insert(part.targets.end(), ids.begin() + 1, ids.end());
    }
    const PositionLosses result = Losses(model, part);
    const auto* loss = result.losses.data_ptr<double>();
    for (size_t at = 0; at < part.targets.size(); ++at) {
      if (part.targets[at] == kUnsupervised) continue;
      const size_t bucket = BucketOf(static_cast<int64_t>(at) % part.columns);
      ++score.tokens;
      score.loss += loss[at];
      ++score.bucket_tokens[bucket];
      score.bucket_loss[bucket] += loss[at];
    }
    RequireFinite(score.loss, "token " + std::to_string(first_token));
  }
  return score;
}

}  // namespace tra
