#include "tra/model/config.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

std::string Error(const nlohmann::json& json) {
  try {
    ConfigFromJson(json);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Config, SurvivesJson) {
  ModelConfig config = ModelConfig::Medium(50257);
  config.attention = "diff";
  config.block = Block::kNormedResidual;
  config.dropout_on = DropoutOn::kNone;
  config.qk_norm = true;
  config.rope_theta = 12345.678;
  const nlohmann::json json = ToJson(config);
  EXPECT_EQ(json, ToJson(ConfigFromJson(json)));
  EXPECT_EQ(json["block"], "normed-residual");
  EXPECT_EQ(ToJson(ConfigFromJson(nlohmann::json::object())), ToJson(ModelConfig()));
}

TEST(Config, ErrorsNameTheFieldAndTheRemedy) {
  EXPECT_NE(Error({{"width", 30}}).find("width 30 is not a multiple of heads 4"), std::string::npos);
  EXPECT_NE(Error({{"widht", 32}}).find("unknown field 'widht'"), std::string::npos);
  EXPECT_NE(Error({{"layers", 0}}).find("layers must be 1..4096, got 0"), std::string::npos);
  EXPECT_NE(Error({{"layers", "four"}}).find("layers must be an integer, got \"four\""), std::string::npos);
  EXPECT_NE(Error({{"mlp_dropout", 1.0}}).find("mlp_dropout must be in [0, 1)"), std::string::npos);
  EXPECT_NE(Error({{"attention", "sliding"}}).find("unknown attention 'sliding'; there are nope"), std::string::npos);
  EXPECT_NE(Error({{"block", "post"}}).find("unknown model block 'post'; there are prenorm, normed-residual"),
            std::string::npos);
  EXPECT_NE(Error({{"attention", "diff"}, {"heads", 1}}).find("must be even"), std::string::npos);
  EXPECT_NE(Error({{"attention", "rope"}, {"width", 4}}).find("even width"), std::string::npos);
  EXPECT_NE(Error({{"attention", "rope"}, {"dropout_on", "logits"}}).find("use 'weights'"), std::string::npos);
  EXPECT_NE(Error({{"width", 2048}}).find("use more heads"), std::string::npos);
  EXPECT_NE(Error({{"stop_eps", -0.5}}).find("stop_eps must be"), std::string::npos);
  EXPECT_NE(Error({{"cope_positions", 1000}}).find("cope_positions must be 2..256"), std::string::npos);
  EXPECT_NE(Error({{"layers", 4.9}}).find("layers must be an integer"), std::string::npos);
  EXPECT_NE(Error({{"layers", true}}).find("layers must be an integer"), std::string::npos);
  EXPECT_NE(Error({{"layers", UINT64_MAX}}).find("too large"), std::string::npos);
  EXPECT_NE(Error({{"qk_norm", 1}}).find("qk_norm must be true or false"), std::string::npos);
  EXPECT_NE(Error({{"block", 1}}).find("block must be a string"), std::string::npos);
  EXPECT_NE(Error({{"rope_theta", nullptr}}).find("rope_theta must be a number"), std::string::npos);
  EXPECT_NE(Error(3).find("not a JSON object"), std::string::npos);
}

}  // namespace
}  // namespace tra
