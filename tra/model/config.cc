#include "tra/model/config.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>

#include "tra/base/text.h"
#include "tra/model/attention/variants.h"

namespace tra {
namespace {

using nlohmann::json;

void Require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("model: " + Shortened(what, 300));
}

// Strict, because nlohmann's own conversions would read 4.9 as 4 and true as 1.
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

template <typename Table>
auto ReadChoice(const json& in, const std::string& name, const Table& table) {
  std::string text;
  Read(in, name, text);
  return FindNamed("model " + name, text, table).value;
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

ModelConfig MakeSized(const char* size, int64_t vocabulary) {
  const ModelSize& found = FindNamed("model size", size, kModelSizes);
  ModelConfig config;
  config.vocabulary = vocabulary;
  config.layers = found.layers;
  config.heads = found.heads;
  config.width = found.width;
  return config;
}

}  // namespace

ModelConfig ModelConfig::Mini(int64_t vocabulary) { return MakeSized("mini", vocabulary); }
ModelConfig ModelConfig::Medium(int64_t vocabulary) { return MakeSized("medium", vocabulary); }

void CheckConfig(const ModelConfig& config) {
  const auto text = [](auto n) { return std::to_string(n); };
  const Variant& variant = FindVariant(config.attention);
  const auto within = [&](const char* name, int64_t value, int64_t most) {
    Require(value >= 1 && value <= most, std::string(name) + " must be 1.." + text(most) + ", got " + text(value));
  };
  within("vocabulary", config.vocabulary, kMostVocabulary);
  within("layers", config.layers, kMostLayers);
  within("heads", config.heads, kMostHeads);
  within("width", config.width, kMostWidth);
  within("train_length", config.train_length, kMostPositions);
  within("max_length", config.max_length, kMostPositions);
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
  Require(config.dropout_on != DropoutOn::kLogits || variant.dropout_on == DropoutOn::kLogits,
          "dropout_on 'logits' works only with tra; use 'weights' with " + config.attention);
  if (variant.objection != nullptr) {
    const std::string objection = variant.objection(config);
    Require(objection.empty(), objection);
  }
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
  if (config.dropout_on) out["dropout_on"] = NameOf(kDropoutModes, *config.dropout_on);
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
  if (in.contains("block")) config.block = ReadChoice(in.at("block"), "block", kBlocks);
  if (in.contains("dropout_on")) config.dropout_on = ReadChoice(in.at("dropout_on"), "dropout_on", kDropoutModes);
  if (in.contains("qk_norm")) {
    Require(in.at("qk_norm").is_boolean(), "qk_norm must be true or false, got " + in.at("qk_norm").dump());
    config.qk_norm = in.at("qk_norm").get<bool>();
  }
  for (const auto& [key, value] : in.items()) Require(known.count(key) > 0, "unknown field '" + key + "'");
  CheckConfig(config);
  return config;
}

}  // namespace tra
