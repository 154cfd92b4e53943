#include "tra/eval/scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tra/model/evaluation_mode.h"
#include "tra/tasks/batch_tensors.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

void RequireFinite(double loss, const std::string& where) {
  if (!std::isfinite(loss)) {
    throw NotFinite("evaluation: the loss is " + std::to_string(loss) + " at " + where +
                    "; the weights are damaged or training diverged");
  }
}

// Returns the losses of a batch, contiguous on the CPU.
PositionLosses ComputeLosses(Decoder& model, FlatBatch& batch) {
  constexpr uint64_t kSeed = 0;  // for labels, the same for all models
  const BatchTensors view = ViewBatch(batch, model.Device());
  const Pass pass{{kSeed, view.sequence_ids, view.cu_seqlens}};
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
  const double bits = score.loss / std::log(2.0);
  rows.push_back(
      {place.split, place.group, place.window, "bits_per_byte", bits / score.bytes, static_cast<int64_t>(score.bytes)});
  rows.push_back({place.split, place.group, place.window, "loss", loss, n});
}

std::vector<ExampleScore> ScoreExamples(Decoder& model, const ExampleSource& source, uint64_t first, int64_t count,
                                        size_t groups, int64_t positions) {
  const c10::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
  constexpr int64_t kChunk = 256;  // examples that are held at once
  std::vector<ExampleScore> scores(std::max<size_t>(1, groups));
  for (int64_t done = 0; done < count; done += kChunk) {
    const uint64_t begin = first + static_cast<uint64_t>(done);
    Batch batch = MakeBatch(source, begin, std::min(kChunk, count - done), positions);
    for (FlatBatch& part : batch.parts) {
      const PositionLosses result = ComputeLosses(model, part);
      const auto* loss = result.losses.data_ptr<double>();
      const auto* right = result.correct.data_ptr<bool>();
      for (size_t sequence = 0; sequence < part.Sequences(); ++sequence) {
        ExampleScore& score = scores.at(static_cast<size_t>(part.groups[sequence]));
        double wrong = 0;
        for (auto at = static_cast<size_t>(part.offsets[sequence]);
             at < static_cast<size_t>(part.offsets[sequence + 1]); ++at) {
          if (part.targets[at] == kUnsupervised) continue;
          ++score.answers;
          wrong += right[at] ? 0 : 1;
          score.loss += loss[at];
        }
        RequireFinite(score.loss, "example " + std::to_string(part.sequence_ids[sequence]));
        ++score.examples;
        score.wrong += wrong;
        score.exact += wrong == 0 ? 1 : 0;
      }
    }
  }
  return scores;
}

TextScore ScoreText(Decoder& model, const TokenFile& tokens, const std::vector<int64_t>& token_bytes, int64_t window,
                    int64_t stride, const WindowRange& range, int64_t positions) {
  const c10::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
  TextScore score;
  score.buckets.resize(BucketOf(window - 1) + 1);
  for (int64_t next = range.first; next < range.end;) {
    FlatBatch batch;
    const int64_t first_token = GetEvalWindow(tokens.Size(), window, stride, next).begin;
    do {
      const EvalWindow each = GetEvalWindow(tokens.Size(), window, stride, next);
      std::vector<int64_t> ids(static_cast<size_t>(each.length) + 1);
      tokens.Read(each.begin, each.length + 1, ids.data());
      batch.tokens.insert(batch.tokens.end(), ids.begin(), ids.end() - 1);
      std::fill(ids.begin() + 1, ids.begin() + 1 + each.first_scored, kUnsupervised);
      batch.targets.insert(batch.targets.end(), ids.begin() + 1, ids.end());
      batch.EndSequence(next);
      next += range.every;
    } while (next < range.end && batch.Positions() + window <= positions);
    const PositionLosses result = ComputeLosses(model, batch);
    const auto* loss = result.losses.data_ptr<double>();
    for (size_t sequence = 0; sequence < batch.Sequences(); ++sequence) {
      const auto begin = static_cast<size_t>(batch.offsets[sequence]);
      for (size_t at = begin; at < static_cast<size_t>(batch.offsets[sequence + 1]); ++at) {
        if (batch.targets[at] == kUnsupervised) continue;
        for (TokenScore* each : {&score.all, &score.buckets[BucketOf(static_cast<int64_t>(at - begin))]}) {
          ++each->tokens;
          each->bytes += static_cast<double>(token_bytes.at(static_cast<size_t>(batch.targets[at])));
          each->loss += loss[at];
        }
      }
    }
    RequireFinite(score.all.loss, "token " + std::to_string(first_token));
  }
  return score;
}

}  // namespace tra
