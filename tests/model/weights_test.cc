#include "tra/model/weights.h"

#include "tests/base/files.h"
#include "tests/model/small.h"
#include "tra/model/safetensors.h"

namespace tra::testing {
namespace {

class Weights : public EveryVariant {};
TRA_FOR_EVERY_VARIANT(Weights);

TEST_P(Weights, SurviveAFile) {
  const TemporaryDirectory directory;
  const c10::NoGradGuard no_grad;
  ModelConfig config = SmallConfig(GetParam());
  config.block = Block::kNormedResidual;
  const auto model = SmallModel(config);
  const std::string path = directory / "model.safetensors";
  SaveModel(*model, path);
  const auto loaded = LoadModel(path);
  loaded->eval();
  EXPECT_EQ(ToJson(loaded->config), ToJson(config));
  const at::Tensor tokens = RandomTokens(2, 20);
  EXPECT_TRUE(loaded->Logits(tokens).equal(model->Logits(tokens)));
}

std::string Error(const std::string& path) {
  try {
    LoadModel(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Weights, ErrorsNameTheTensor) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  const auto model = SmallModel("tra");
  SaveModel(*model, path);
  const SafetensorsFile good = ReadSafetensors(path);
  const auto error_after = [&](const auto& change) {
    SafetensorsFile file = good;
    change(file);
    WriteSafetensors(path, file.tensors, file.metadata);
    std::string error = Error(path);
    EXPECT_EQ(error.compare(0, path.size(), path), 0) << error;
    return error;
  };
  EXPECT_NE(error_after([](auto& f) { f.tensors.erase("norm"); }).find("lacks the tensor 'norm'"), std::string::npos);
  EXPECT_NE(error_after([](auto& f) { f.tensors["extra"] = at::zeros({1}); }).find("has a tensor 'extra'"),
            std::string::npos);
  EXPECT_NE(error_after([](auto& f) {
              f.tensors["head"] = at::zeros({11, 31});
            }).find("tensor 'head' is Float [11, 31], the model needs Float [11, 32]"),
            std::string::npos);
  EXPECT_NE(error_after([](auto& f) { f.tensors["norm"] = at::zeros({32}, at::kLong); }).find("tensor 'norm' is Long"),
            std::string::npos);
  EXPECT_NE(error_after([](auto& f) { f.metadata.clear(); }).find("has no 'config'"), std::string::npos);
  EXPECT_NE(error_after([](auto& f) { f.metadata["config"] = "{"; }).find("not JSON"), std::string::npos);
  const auto error_with = [&](const auto& change) {
    return error_after([&](auto& f) {
      nlohmann::json config = nlohmann::json::parse(f.metadata["config"]);
      change(config);
      f.metadata["config"] = config.dump();
    });
  };
  EXPECT_NE(error_with([](auto& config) { config["layers"] = -1; }).find("layers must be"), std::string::npos);
  for (const char* field : {"heads", "block", "rope_theta"}) {  // a default could be another model
    EXPECT_NE(error_with([&](auto& config) { config.erase(field); }).find(std::string("lacks the field '") + field),
              std::string::npos);
  }
  // These configurations would take more memory than there is, or are beyond all bounds.
  const struct {
    const char* field;
    int64_t large;
  } kFields[] = {{"vocabulary", kMostVocabulary}, {"layers", kMostLayers}, {"width", kMostWidth}};
  for (const auto& [field, large] : kFields) {
    const auto error_of = [&, name = field](int64_t value) {
      return error_with([&](auto& config) {
        config[name] = value;
        if (std::string(name) == "width") config["heads"] = kMostHeads;
      });
    };
    EXPECT_NE(error_of(large).find("its configuration"), std::string::npos) << field;
    EXPECT_NE(error_of(large + 1).find(std::string(field) + " must be 1.."), std::string::npos) << field;
  }
  EXPECT_NE(Error(directory / "missing").find("missing"), std::string::npos);
}

TEST(Weights, AFailedLoadChangesNothing) {
  const auto model = SmallModel("tra");
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : NamedWeights(*model)) weights[name] = at::zeros_like(tensor);
  weights["norm"] = at::zeros({31});
  const at::Tensor before = model->Head().clone();
  EXPECT_THROW(LoadWeights(*model, weights, "test"), std::runtime_error);
  EXPECT_TRUE(model->Head().equal(before));
}

}  // namespace
}  // namespace tra::testing
