// Trains as one of the processes of a test: device_worker DEVICE FOLDER ATTENTION STOP_AFTER.
#include <ATen/Parallel.h>
#include <torch/csrc/lazy/core/lazy_graph_executor.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "tests/base/other_device.h"
#include "tra/run/data.h"
#include "tra/train/replicas/replicas.h"
#include "tra/train/trainer.h"

namespace tra {
namespace {

RunConfig Config(const std::string& attention) {
  RunConfig config;
  config.model.attention = attention;
  config.model.layers = 1;
  config.model.heads = 2;
  config.model.width = 32;
  config.model.embedding_dropout = config.model.attention_dropout = config.model.mlp_dropout = 0.1;
  config.data.task = "copy";
  config.data.lengths = {4, 10};
  config.train.steps = 4;
  config.train.batch = 3;
  config.train.clip = 1.0;
  config.train.log_every = 1;
  config.eval.splits = {"iid"};
  config.eval.examples = 8;
  return config;
}

void Run(const std::string& device, const std::string& folder, const std::string& attention, int64_t stop_after) {
  Replicas::Options options;
  if (device == "other") options.device = testing::OtherDevice();
  const auto replicas = Replicas::FromEnvironment(options);
  std::unique_ptr<RunDirectory> run;
  const RunConfig config = Config(attention);
  replicas->OnFirst([&] {
    run = std::make_unique<RunDirectory>(folder, config, RunDirectory::Start::kResume, options.device.str());
  });
  TrainHooks hooks;
  int64_t asked = 0;
  hooks.stop = [&] {
    // The lazy device of LibTorch 2.6 may confuse weights of the same shape when it is asked for them one by one, as
    // for a checkpoint, while all of a step is pending: it saved key.weight as query.weight and value.weight.
    if (options.device.is_lazy()) torch::lazy::LazyGraphExecutor::Get()->SyncLiveTensorsGraph(nullptr, {}, true);
    return ++asked == stop_after;
  };
  Train(config, run.get(), *replicas, hooks);
}

}  // namespace
}  // namespace tra

int main(int argc, char** argv) {
  at::set_num_threads(1);
  try {
    if (argc != 5) throw std::invalid_argument("device_worker DEVICE FOLDER ATTENTION STOP_AFTER");
    tra::Run(argv[1], argv[2], argv[3], std::stoll(argv[4]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
