#include "tra/model/config.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>

#include "tra/model/attention/variants.h"

namespace tra {
namespace {

using nlohmann::json;

void Require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("model: " + what);
}

template <typename T>
struct Name {
  T value;
  const char* name;
};
constexpr Name<Block> kBlocks[] = {{Block::kPrenorm, "prenorm"}, {Block::kNormedResidual, "normed-residual"}};
constexpr Name<DropoutOn> kDropouts[] = {
    {DropoutOn::kLogits, "logits"}, {DropoutOn::kWeights, "weights"}, {DropoutOn::kNone, "none"}};

template <typename T, size_t kCount>
std::string NameOf(const Name<T> (&names)[kCount], T value) {
  for (const auto& each : names) {
    if (each.value == value) return each.name;
  }
  return "";
}

template <typename T, size_t kCount>
T ValueOf(const Name<T> (&names)[kCount], const std::string& name, const std::string& field) {
  std::string known;
  for (const auto& each : names) {
    if (name == each.name) return each.value;
    known += (known.empty() ? "'" : ", '") + std::string(each.name) + "'";
  }
  throw std::invalid_argument("model: " + field + " must be one of " + known + ", got '" + name + "'");
}

// nlohmann's own conversions would take 4.9 for 4 and true for 1.
void Read(const json& in, const std::string& name, int64_t& value) {
  Require(in.is_number_integer(), name + " must be an integer, got " + in.dump());
  Require(!in.is_number_unsigned() || in.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX),
          name + " is too large: " + in.dump());
  value = in.get<int64_t>();
}
void Read(const json& in, const std::string& name, double& value) {
  Require(in.is_number(), name + " must be a number, got " + in.dump());
  value = in.get<double>();
}
void Read(const json& in, const std::string& name, std::string& value) {
  Require(in.is_string(), name + " must be a string, got " + in.dump());
  value = in.get<std::string>();
}

// Calls field(name, member) for every plain member.
template <typename Config, typename Field>
void ForEachField(Config& config, const Field& field) {
  field("attention", config.attention);
  field("vocabulary", config.vocabulary);
  field("layers", config.layers);
  field("heads", config.heads);
  field("width", config.width);
  field("embedding_dropout", config.embedding_dropout);
  field("attention_dropout", config.attention_dropout);
  field("mlp_dropout", config.mlp_dropout);
  field("train_length", config.train_length);
  field("max_length", config.max_length);
  field("rope_theta", config.rope_theta);
  field("cope_positions", config.cope_positions);
  field("stop_eps", config.stop_eps);
}

}  // namespace

ModelConfig ModelConfig::Mini(int64_t vocabulary) {
  ModelConfig config;
  config.vocabulary = vocabulary;
  return config;
}

ModelConfig ModelConfig::Medium(int64_t vocabulary) {
  ModelConfig config;
  config.vocabulary = vocabulary;
  config.layers = 8;
  config.heads = 8;
  config.width = 512;
  return config;
}

void CheckConfig(const ModelConfig& config) {
  const auto text = [](auto n) { return std::to_string(n); };
  FindVariant(config.attention);
  const auto positive = [&](const char* name, int64_t value) {
    Require(value >= 1, std::string(name) + " must be at least 1, got " + text(value));
  };
  positive("vocabulary", config.vocabulary);
  positive("layers", config.layers);
  positive("heads", config.heads);
  positive("width", config.width);
  positive("train_length", config.train_length);
  positive("max_length", config.max_length);
  Require(config.width % config.heads == 0,
          "width " + text(config.width) + " is not a multiple of heads " + text(config.heads));
  Require(config.HeadWidth() <= static_cast<int64_t>(kMaxHeadWidth),
          "heads are " + text(config.HeadWidth()) + " wide, at most " + text(kMaxHeadWidth) + "; use more heads");
  const auto probability = [&](const char* name, double p) {
    Require(p >= 0.0 && p < 1.0, std::string(name) + " must be in [0, 1), got " + text(p));
  };
  probability("embedding_dropout", config.embedding_dropout);
  probability("attention_dropout", config.attention_dropout);
  probability("mlp_dropout", config.mlp_dropout);
  Require(config.dropout_on != DropoutOn::kLogits || config.attention == "tra",
          "dropout_on 'logits' is tra's; use 'weights' with " + config.attention);
  const bool turns = config.attention == "rope" || config.attention == "diff";
  Require(
      !turns || config.HeadWidth() % 2 == 0,
      config.attention + " turns pairs of channels, so heads must have an even width; got " + text(config.HeadWidth()));
  Require(config.attention != "diff" || config.heads % 2 == 0,
          "diff pairs its heads, so their number must be even; got " + text(config.heads));
  Require(config.attention != "diff" || 2 * config.HeadWidth() <= static_cast<int64_t>(kMaxHeadWidth),
          "diff doubles the width of values to " + text(2 * config.HeadWidth()) + ", at most " + text(kMaxHeadWidth) +
              "; use more heads");
  Require(config.rope_theta > 0.0 && std::isfinite(config.rope_theta),
          "rope_theta must be positive, got " + text(config.rope_theta));
  Require(config.cope_positions >= 2 && config.cope_positions <= static_cast<int64_t>(kMaxTable),
          "cope_positions must be 2.." + text(kMaxTable) + ", got " + text(config.cope_positions));
  Require(config.stop_eps == static_cast<double>(kStopWhenExact) || (config.stop_eps >= 0.0 && config.stop_eps < 1.0),
          "stop_eps must be in [0, 1), or -1 to stop only where no bit changes; got " + text(config.stop_eps));
}

json ToJson(const ModelConfig& config) {
  json out = json::object();
  ForEachField(config, [&](const char* name, const auto& value) { out[name] = value; });
  out["block"] = NameOf(kBlocks, config.block);
  if (config.dropout_on) out["dropout_on"] = NameOf(kDropouts, *config.dropout_on);
  if (config.qk_norm) out["qk_norm"] = *config.qk_norm;
  return out;
}

ModelConfig ConfigFromJson(const json& in) {
  Require(in.is_object(), "the configuration is not a JSON object");
  ModelConfig config;
  std::set<std::string> known = {"block", "dropout_on", "qk_norm"};
  ForEachField(config, [&](const char* name, auto& value) {
    known.insert(name);
    if (in.contains(name)) Read(in.at(name), name, value);
  });
  std::string text;
  if (in.contains("block")) {
    Read(in.at("block"), "block", text);
    config.block = ValueOf(kBlocks, text, "block");
  }
  if (in.contains("dropout_on")) {
    Read(in.at("dropout_on"), "dropout_on", text);
    config.dropout_on = ValueOf(kDropouts, text, "dropout_on");
  }
  if (in.contains("qk_norm")) {
    Require(in.at("qk_norm").is_boolean(), "qk_norm must be true or false, got " + in.at("qk_norm").dump());
    config.qk_norm = in.at("qk_norm").get<bool>();
  }
  for (const auto& [key, value] : in.items()) Require(known.count(key) > 0, "unknown field '" + key + "'");
  CheckConfig(config);
  return config;
}

}  // namespace tra
