// Checks scores against the plain definition: logits of one sequence at a time, argmax, and a softmax in float64.
#include "tra/eval/scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/base/files.h"
#include "tra/model/attention/variants.h"
#include "tra/tasks/generated.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

Decoder SmallModel(const std::string& attention, int64_t vocabulary) {
  ModelConfig config = ModelConfig::Mini(vocabulary);
  config.attention = attention;
  config.layers = 2;
  config.heads = 2;
  config.width = 16;
  config.max_length = 1024;
  config.train_length = 64;
  return Decoder(config, 3);
}

struct Plain {
  std::vector<double> losses;  // by target
  std::vector<bool> right;
};

// Scores one sequence; `number` is its id, which its labels depend on.
Plain Score(Decoder& model, const std::vector<int64_t>& tokens, int64_t number) {
  const c10::NoGradGuard no_grad;
  model.eval();
  const auto length = static_cast<int64_t>(tokens.size()) - 1;
  const at::Tensor all = at::tensor(tokens, at::kLong);
  Pass pass;
  pass.draws.sequence_ids = at::tensor({number}, at::kLong);
  const at::Tensor logits = model.Logits(all.narrow(0, 0, length).unsqueeze(0), pass)[0].to(at::kDouble);
  const at::Tensor log_p = at::log_softmax(logits, -1);
  Plain plain;
  for (int64_t at = 0; at < length; ++at) {
    const int64_t target = tokens[static_cast<size_t>(at) + 1];
    plain.losses.push_back(-log_p[at][target].item<double>());
    plain.right.push_back(logits[at].argmax().item<int64_t>() == target);
  }
  model.train();
  return plain;
}

TEST(Scores, OfExamplesAreThoseOfTheDefinition) {
  for (const Variant& variant : Variants()) {
    const std::string attention = variant.name;
    const GeneratedExamples examples("flipflop++", "iid", 0);
    Decoder model = SmallModel(attention, static_cast<int64_t>(examples.names().size()));
    std::vector<ExampleScore> want(4);
    for (uint64_t index = 5; index < 65; ++index) {
      const Example example = examples.At(index);
      const Plain plain = Score(model, {example.tokens.begin(), example.tokens.end()}, static_cast<int64_t>(index));
      ExampleScore& score = want[static_cast<size_t>(example.group)];
      bool exact = true;
      for (size_t at = 1; at < example.tokens.size(); ++at) {
        if (example.supervised[at] == 0) continue;
        ++score.answers;
        score.loss += plain.losses[at - 1];
        score.wrong += plain.right[at - 1] ? 0 : 1;
        exact = exact && plain.right[at - 1];
      }
      ++score.examples;
      score.exact += exact ? 1 : 0;
    }
    for (const int64_t positions : {1, 300, 100000}) {
      const std::vector<ExampleScore> got = ScoreExamples(model, examples, 5, 60, 4, positions);
      for (size_t group = 0; group < 4; ++group) {
        EXPECT_EQ(got[group].examples, want[group].examples);
        EXPECT_EQ(got[group].exact, want[group].exact) << attention;
        EXPECT_EQ(got[group].answers, want[group].answers);
        EXPECT_EQ(got[group].wrong, want[group].wrong);
        EXPECT_NEAR(got[group].loss, want[group].loss, 1e-4);  // fp32 logits against a float64 softmax of them
      }
    }
    EXPECT_TRUE(model.is_training());
  }
}

TEST(Scores, OfTextCountEveryTokenOnceAtAnyWindowAndStride) {
  const TemporaryDirectory directory;
  const int64_t count = 203;
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(i * i % 29));
  TokenFileWriter writer(directory / "ids", 29);
  writer.Add(ids);
  TokenFileInfo info;
  info.tokenizer_checksum = info.text_sha256 = std::string(64, '0');
  info.text_bytes = count;
  info.words = info.lines = 1;
  writer.Commit(info);
  const TokenFile tokens(directory / "ids");
  std::vector<int64_t> token_bytes;  // by id: one to four
  for (int64_t id = 0; id < 29; ++id) token_bytes.push_back(1 + id % 4);
  double want_bytes = 0;  // by hand: of all tokens but the first
  for (int64_t i = 1; i < count; ++i) want_bytes += static_cast<double>(1 + ids[static_cast<size_t>(i)] % 4);
  for (const auto& [attention, window, stride] : std::vector<std::tuple<const char*, int64_t, int64_t>>{
           {"tra", 16, 16}, {"tra", 16, 5}, {"label", 16, 5}, {"tra", 64, 64}, {"tra", 500, 500}}) {
    Decoder model = SmallModel(attention, 29);
    double want = 0;
    const int64_t windows = EvalWindowCount(count, window, stride);
    for (int64_t i = 0; i < windows; ++i) {
      const EvalWindow each = GetEvalWindow(count, window, stride, i);
      const Plain plain = Score(model, {ids.begin() + each.begin, ids.begin() + each.begin + each.length + 1}, i);
      for (int64_t at = each.first_scored; at < each.length; ++at) want += plain.losses[static_cast<size_t>(at)];
    }
    for (const int64_t positions : {1, 100, 100000}) {
      const TextScore got = ScoreText(model, tokens, token_bytes, window, stride, {0, windows}, positions);
      EXPECT_EQ(got.all.tokens, static_cast<double>(count - 1));
      EXPECT_EQ(got.all.bytes, want_bytes);
      EXPECT_NEAR(got.all.loss, want, 1e-5 * want);
      TokenScore in_buckets;
      for (const TokenScore& each : got.buckets) {
        in_buckets.tokens += each.tokens;
        in_buckets.bytes += each.bytes;
        in_buckets.loss += each.loss;
      }
      EXPECT_NEAR(in_buckets.loss, got.all.loss, 1e-9 * want);
      EXPECT_EQ(in_buckets.tokens, got.all.tokens);
      EXPECT_EQ(in_buckets.bytes, want_bytes);
      TokenScore shared;
      for (int64_t share = 0; share < 3; ++share) {
        const TextScore part = ScoreText(model, tokens, token_bytes, window, stride, {share, windows, 3}, positions);
        shared.tokens += part.all.tokens;
        shared.loss += part.all.loss;
      }
      EXPECT_EQ(shared.tokens, got.all.tokens);
      EXPECT_NEAR(shared.loss, got.all.loss, 1e-5 * want);
    }
  }
}

TEST(Scores, BitsPerByteAreTheLossOfAllTokensInBitsOverTheirBytes) {
  std::vector<ResultRow> rows;
  TokenScore score;
  score.tokens = 4;
  score.bytes = 12;
  score.loss = 6 * std::log(2.0);  // six bits
  AddRows({"test", "", 128}, score, rows);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].metric, "bits_per_byte");
  EXPECT_DOUBLE_EQ(rows[1].value, 0.5);
  EXPECT_EQ(rows[1].n, 12);
  EXPECT_EQ(rows[0].n, 4);
  EXPECT_DOUBLE_EQ(rows[0].value, std::exp2(1.5));
}

TEST(Scores, DivergedModelsAreAnErrorNotAScore) {
  const GeneratedExamples examples("copy", "iid", 0);
  Decoder model = SmallModel("tra", static_cast<int64_t>(examples.names().size()));
  {
    const c10::NoGradGuard no_grad;
    model.parameters()[0].fill_(NAN);
  }
  EXPECT_THROW(ScoreExamples(model, examples, 0, 4, 0, 1000), NotFinite);
}

}  // namespace
}  // namespace tra
