// Makes and runs models for tests/python:
//   parity_tool init '{"attention": "tra", ...}' WEIGHTS   draws weights and saves them
//   parity_tool run WEIGHTS INPUT OUTPUT                   tokens, targets -> logits, loss, labels, grad.<weight>
#include <ATen/ATen.h>

#include <cstring>
#include <iostream>

#include "tra/model/labels.h"
#include "tra/model/safetensors.h"
#include "tra/model/weights.h"

namespace {

int Run(const std::string& weights, const std::string& input, const std::string& output) {
  const auto model = tra::LoadModel(weights);
  model->eval();
  const auto in = tra::ReadSafetensors(input).tensors;
  const at::Tensor &tokens = in.at("tokens"), &targets = in.at("targets");
  tra::CrossEntropySum sum = model->Loss(tokens, targets);
  sum.loss.backward();
  std::map<std::string, at::Tensor> out;
  for (const auto& [name, tensor] : tra::NamedWeights(*model)) out["grad." + name] = tensor.grad();
  out["loss"] = sum.loss.detach();
  out["logits"] = model->Logits(tokens).detach();
  if (model->config.attention == "label") {
    constexpr uint64_t kLabelSite = 1;
    const std::vector<int64_t> lengths(static_cast<size_t>(tokens.size(0)), tokens.size(1));
    out["labels"] =
        tra::DrawLabels(tra::Draws(0).Of(kLabelSite), lengths, model->config.max_length).view(tokens.sizes());
  }
  tra::WriteSafetensors(output, out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "init") == 0) {
      tra::SaveModel(tra::Decoder(tra::ConfigFromJson(nlohmann::json::parse(argv[2])), 1), argv[3]);
      return 0;
    }
    if (argc == 5 && std::strcmp(argv[1], "run") == 0) return Run(argv[2], argv[3], argv[4]);
    std::cerr << "usage: parity_tool init CONFIG WEIGHTS | run WEIGHTS INPUT OUTPUT\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "parity_tool: " << error.what() << "\n";
    return 1;
  }
}
