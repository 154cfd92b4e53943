#include "tra/model/generate.h"

#include <cmath>
#include <map>
#include <set>

#include "tests/model/small.h"

namespace tra::testing {
namespace {

class Decoding : public EveryVariant {};
TRA_FOR_EVERY_VARIANT(Decoding);

// Compares prefill and steps with the whole sequence at once, at four times the training length.
TEST_P(Decoding, PrefillAndStepsEqualTheWholeSequence) {
  const c10::NoGradGuard no_grad;
  for (const Block block : {Block::kPrenorm, Block::kNormedResidual}) {
    ModelConfig config = SmallConfig(GetParam());
    config.block = block;
    const auto model = SmallModel(config);
    const int64_t length = 4 * config.train_length;
    const at::Tensor tokens = RandomTokens(2, length);
    const at::Tensor whole = model->Logits(tokens);
    for (const int64_t prompt : {1, 7, 40}) {
      Cache cache = model->NewCache(length);
      Pass pass;
      pass.cache = &cache;
      std::vector<at::Tensor> parts = {model->Logits(tokens.narrow(1, 0, prompt), pass)};
      // Tokens follow one by one, then several at once, as in speculative decoding.
      for (int64_t t = prompt; t < 50; ++t) parts.push_back(model->Logits(tokens.narrow(1, t, 1), pass));
      parts.push_back(model->Logits(tokens.narrow(1, 50, 14), pass));
      EXPECT_EQ(cache.length, length);
      EXPECT_LT(MaxDifference(at::cat(parts, 1), whole), 2e-4) << "prompt " << prompt;  // logits are about 10
    }
  }
}

TEST_P(Decoding, GreedyGenerationIsTheArgmaxOfTheWholeSequence) {
  const c10::NoGradGuard no_grad;
  const auto model = SmallModel(GetParam());
  GenerateOptions options;
  options.new_tokens = 40;  // past the training length
  const at::Tensor tokens = Generate(*model, RandomTokens(3, 9), options);
  ASSERT_EQ(tokens.size(1), 49);
  const at::Tensor predicted = model->Logits(tokens).argmax(-1);
  EXPECT_TRUE(predicted.narrow(1, 8, 40).equal(tokens.narrow(1, 9, 40)));
}

TEST(Generate, SamplesAreAFunctionOfTheSeedAndTheSequence) {
  const auto model = SmallModel("tra");
  GenerateOptions options;
  options.new_tokens = 30;
  options.sampling.temperature = 2.0;
  const at::Tensor prompt = RandomTokens(4, 5);
  const at::Tensor first = Generate(*model, prompt, options);
  EXPECT_TRUE(first.equal(Generate(*model, prompt, options)));
  EXPECT_TRUE(first.narrow(0, 0, 2).equal(Generate(*model, prompt.narrow(0, 0, 2), options)));
  options.first_sequence = 2;
  EXPECT_TRUE(first.narrow(0, 2, 2).equal(Generate(*model, prompt.narrow(0, 2, 2), options)));
  options.first_sequence = 0;
  options.sampling.seed = 1;
  EXPECT_FALSE(first.equal(Generate(*model, prompt, options)));
  const at::Tensor alike = Generate(*model, prompt.narrow(0, 0, 1).expand({4, 5}), options);
  EXPECT_FALSE(alike[0].equal(alike[1]));
}

TEST(Generate, LeavesTheModeAsItWas) {
  const auto model = SmallModel("tra");
  model->train();
  Generate(*model, RandomTokens(1, 3), {});
  EXPECT_TRUE(model->is_training());
}

TEST(Generate, EndsAtTheStopToken) {
  const auto model = SmallModel("tra");
  GenerateOptions options;
  options.new_tokens = 50;
  const at::Tensor prompt = RandomTokens(1, 4);
  const at::Tensor free = Generate(*model, prompt, options);
  options.stop_token = free[0][10].item<int64_t>();
  const at::Tensor stopped = Generate(*model, prompt, options);
  EXPECT_LE(stopped.size(1), 11);
  EXPECT_EQ(stopped[0][-1].item<int64_t>(), *options.stop_token);
  EXPECT_TRUE(stopped.equal(free.narrow(1, 0, stopped.size(1))));
}

TEST(Generate, TheCallerMayEndIt) {
  const auto model = SmallModel("tra");
  GenerateOptions options;
  int steps = 0;
  options.on_step = [&](const at::Tensor&) { return ++steps < 3; };
  EXPECT_EQ(Generate(*model, RandomTokens(2, 4), options).size(1), 7);
}

TEST(Sample, FrequenciesAreTheProbabilities) {
  const std::vector<float> logits = {1.0f, 0.0f, 2.0f, -1.0f};
  Sampling sampling;
  sampling.temperature = 0.7;
  std::map<int64_t, int> counts;
  const int draws = 20000;
  for (int i = 0; i < draws; ++i) ++counts[SampleToken(logits.data(), 4, sampling, 3, static_cast<uint64_t>(i))];
  double total = 0;
  for (const float each : logits) total += std::exp(each / 0.7);
  for (int64_t i = 0; i < 4; ++i) {
    const double p = std::exp(logits[static_cast<size_t>(i)] / 0.7) / total;
    EXPECT_NEAR(counts[i], draws * p, 4 * std::sqrt(draws * p * (1 - p))) << i;
  }
}

std::set<int64_t> Reached(const std::vector<float>& logits, const Sampling& sampling) {
  std::set<int64_t> reached;
  for (uint64_t i = 0; i < 2000; ++i) reached.insert(SampleToken(logits.data(), logits.size(), sampling, 0, i));
  return reached;
}

TEST(Sample, TopKAndTopPLeaveTheMostLikely) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
  Sampling sampling;
  sampling.temperature = 1.0;
  EXPECT_EQ(Reached(logits, sampling), (std::set<int64_t>{0, 1, 2, 3}));
  sampling.top_k = 2;
  EXPECT_EQ(Reached(logits, sampling), (std::set<int64_t>{1, 3}));
  sampling.top_k = 0;
  sampling.top_p = 0.75;  // 0.4 + 0.3 < 0.75, so the next token belongs too
  EXPECT_EQ(Reached(logits, sampling), (std::set<int64_t>{1, 2, 3}));
  sampling.top_p = 0.05;
  EXPECT_EQ(Reached(logits, sampling), (std::set<int64_t>{1}));
  sampling.top_p = 1.0;
  sampling.temperature = 0.0;
  EXPECT_EQ(Reached(logits, sampling), (std::set<int64_t>{1}));
}

TEST(Sample, RefusesWhatIsNotADistribution) {
  const std::vector<float> nan = {0.0f, NAN}, impossible = {-INFINITY, 1.0f};
  EXPECT_THROW(SampleToken(nan.data(), 2, {}, 0, 0), std::runtime_error);
  const std::vector<float> nothing = {-INFINITY, -INFINITY};
  EXPECT_THROW(SampleToken(nothing.data(), 2, {}, 0, 0), std::runtime_error);
  EXPECT_THROW(SampleToken(nothing.data(), 2, Sampling{1.0, 0, 1.0, 0}, 0, 0), std::runtime_error);
  EXPECT_THROW(SampleToken(nothing.data(), 0, {}, 0, 0), std::invalid_argument);
  Sampling sampling;
  sampling.temperature = 1.0;
  EXPECT_EQ(Reached(impossible, sampling), (std::set<int64_t>{1}));
  for (const Sampling& bad : {Sampling{-1.0, 0, 1.0, 0}, Sampling{1.0, -1, 1.0, 0}, Sampling{1.0, 0, 0.0, 0},
                              Sampling{1.0, 0, 1.5, 0}, Sampling{NAN, 0, 1.0, 0}}) {
    EXPECT_THROW(CheckSampling(bad), std::invalid_argument);
  }
}

TEST(Cache, RefusesMoreThanItHolds) {
  const c10::NoGradGuard no_grad;
  for (const std::string& attention : VariantNames()) {
    const auto model = SmallModel(attention);
    Cache cache = model->NewCache(5);
    Pass pass;
    pass.cache = &cache;
    model->Logits(RandomTokens(2, 4), pass);
    EXPECT_THROW(model->Logits(RandomTokens(2, 2), pass), c10::Error) << attention;
  }
}

TEST(Cache, ACloneGoesItsOwnWay) {
  const c10::NoGradGuard no_grad;
  for (const std::string& attention : VariantNames()) {
    const auto model = SmallModel(attention);
    const at::Tensor tokens = RandomTokens(2, 10), other = RandomTokens(2, 10, 11, 8);
    Cache cache = model->NewCache(20), whole = model->NewCache(20);
    const auto logits = [&](Cache& with, const at::Tensor& of) {
      Pass pass;
      pass.cache = &with;
      return model->Logits(of, pass);
    };
    logits(cache, tokens);
    Cache branch = cache.Clone();
    logits(branch, other);
    const at::Tensor after = logits(cache, tokens);  // as if the branch did not exist
    logits(whole, tokens);
    EXPECT_TRUE(after.equal(logits(whole, tokens))) << attention;
  }
}

TEST(Cache, OfAnotherModelIsRefused) {
  const c10::NoGradGuard no_grad;
  const auto model = SmallModel("tra");
  Cache cache(1, 10);
  Pass pass;
  pass.cache = &cache;
  EXPECT_THROW(model->Logits(RandomTokens(2, 4), pass), c10::Error);
  Cache own = model->NewCache(10);
  pass.cache = &own;
  model->train();
  EXPECT_THROW(model->Logits(RandomTokens(2, 4), pass), c10::Error);  // in training mode there is dropout
}

TEST(Cache, RefusesGradients) {
  const auto model = SmallModel("tra");
  Cache cache = model->NewCache(5);
  Pass pass;
  pass.cache = &cache;
  EXPECT_THROW(model->Logits(RandomTokens(2, 4), pass), c10::Error);
}

}  // namespace
}  // namespace tra::testing
