#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/models.h"
#include "tra/model/attention/variants.h"

namespace tra {
namespace {

using nlohmann::json;

// Returns the numbers in nested arrays, in order.
std::vector<float> Flat(const json& array) {
  std::vector<float> values;
  for (const json& each : array) {
    if (!each.is_array()) {
      values.push_back(static_cast<float>(each.get<double>()));
      continue;
    }
    for (const float value : Flat(each)) values.push_back(value);
  }
  return values;
}

std::vector<float> Flat(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

TEST(Logits, AreTheModelsOwnToTheLastBit) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors";
  const at::Tensor tokens = at::tensor({1, 4, 5, 0, 8, 3, 2, 7}, at::kLong).view({2, 4});
  for (const Variant& variant : Variants()) {
    const auto model = TinyModel(variant.name, 9);
    SaveModel(*model, file);
    const c10::NoGradGuard no_grad;
    const Result batch = RunTra("logits " + file, "[[1,4,5,0],[8,3,2,7]]");
    ASSERT_EQ(batch.code, 0) << batch.err;
    const json said = json::parse(batch.out);
    EXPECT_EQ(said.at("attention"), variant.name);
    EXPECT_EQ(said.at("vocabulary"), 9);
    ASSERT_EQ(said.at("logits").size(), 2u);
    ASSERT_EQ(said["logits"][1].size(), 4u);
    EXPECT_EQ(Flat(said["logits"]), Flat(model->Logits(tokens))) << variant.name;
  }
}

TEST(Logits, OfOneSequenceHaveNoBatch) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors";
  const auto model = TinyModel("tra", 9);
  SaveModel(*model, file);
  const c10::NoGradGuard no_grad;
  const at::Tensor want = model->Logits(at::tensor({1, 4, 5}, at::kLong).view({1, 3}));
  const json all = json::parse(RunTra("logits " + file + " --ids '[1, 4, 5]'").out).at("logits");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(Flat(all), Flat(want));
  const json last = json::parse(RunTra("logits " + file + " --ids '[1, 4, 5]' --last").out).at("logits");
  EXPECT_EQ(last, all[2]);
  const json batch = json::parse(RunTra("logits " + file + " --ids '[[1, 4, 5]]' --last").out).at("logits");
  EXPECT_EQ(batch, json::array({all[2]}));
}

TEST(Logits, OfARunAreThoseOfItsNewestCheckpoint) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  TrainTiny(run, "[data]\ntask = \"flipflop\"\nlengths = [3, 3]");
  const Result of_run = RunTra("logits " + run + " --ids '[1,5,2]'");
  ASSERT_EQ(of_run.code, 0) << of_run.err;
  EXPECT_EQ(of_run.out, RunTra("logits " + run + "/checkpoints/step-2/model.safetensors --ids '[1,5,2]'").out);
}

TEST(Logits, BadIdsSayWhatTheyMayBe) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors", ape = directory / "ape.safetensors";
  SaveModel(*TinyModel("tra", 9), file);
  SaveModel(*TinyModel("ape", 9), ape);
  const auto expect = [](const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
    EXPECT_EQ(result.out, "");
  };
  expect(RunTra("logits " + file + " --ids '[1,9]'"), 2, "id 9 is not in the model's vocabulary; ids are 0..8");
  expect(RunTra("logits " + file + " --ids '[]'"), 2, "there are no ids");
  expect(RunTra("logits " + file + " --ids '[[]]'"), 2, "there are no ids");
  expect(RunTra("logits " + file + " --ids '[1,'"), 2, "; expected a JSON array of ids");
  expect(RunTra("logits " + file + " --ids '[[1,2],[3]]'"), 2, "sequence 1 has 1 ids, the first 2");
  expect(RunTra("logits " + file + " --ids '[[1,2],3]'"), 2, "element 1 is not an array");
  expect(RunTra("logits " + file, "{}"), 1, "standard input: is not an array");
  std::string long_ids = "[0";
  for (int i = 1; i < 25; ++i) long_ids += ",0";
  expect(RunTra("logits " + ape, long_ids + "]"), 2, "there are 25 ids, but this ape model has positions for 24");
  expect(RunTra("logits " + (directory / "none") + " --ids '[1]'"), 1, "is not the folder of a run");
}

TEST(Logits, HelpShowsAnExample) {
  const Result result = RunTra("logits --help");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(Contains(result.out, "Example: tra logits ")) << result.out;
}

}  // namespace
}  // namespace tra
