// Trains a small model for a few steps, saves it, loads it again, and lets it continue a prompt.
#include <ATen/ATen.h>
#include <tra/model/generate.h>
#include <tra/model/weights.h>
#include <tra/ops/adamw.h>

#include <cstdio>

int main() {
  tra::ModelConfig config = tra::ModelConfig::Mini(/*vocabulary=*/6);
  config.attention = "tra";  // or nope, ape, rel, rope, label, fot, diff, cope
  config.layers = 2;
  config.heads = 2;  // a single one may get stuck, see docs/reliability.md
  config.width = 32;
  tra::Decoder model(config, /*seed=*/1);
  tra::AdamW optimizer({{model.parameters(), /*weight_decay=*/0.1}});

  // 0 1 2 3 4 5 0 1 2 ...: the next symbol is the target.
  const at::Tensor tokens = at::arange(64).remainder(6).unsqueeze(0);
  const at::Tensor targets = at::arange(1, 65).remainder(6).unsqueeze(0);
  for (uint64_t step = 0; step < 200; ++step) {
    const tra::CrossEntropySum sum = model.Loss(tokens, targets, {/*seed=*/step});
    sum.loss.backward();
    optimizer.Step(/*lr=*/2e-3, 1.0 / static_cast<double>(sum.supervised));
    optimizer.ZeroGrad();
  }
  tra::SaveModel(model, "model.safetensors");

  const auto loaded = tra::LoadModel("model.safetensors");
  tra::GenerateOptions options;
  options.new_tokens = 200;  // three times as long as anything it was trained on
  const at::Tensor out = tra::Generate(*loaded, tokens.narrow(1, 0, 6), options);
  const double right = out.eq(at::arange(206).remainder(6)).to(at::kDouble).mean().item<double>();
  std::printf("%.0f%% of 206 symbols are right\n", 100 * right);
  return right == 1.0 ? 0 : 1;
}
