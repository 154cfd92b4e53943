// Measures what it costs to sum gradients over processes, and what is gained by doing so while the backward still runs.
// Every process runs this program, with one thread:
//   for r in 0 1; do RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 build/release/bench/replicas_bench &
//   done
// To have a network between them, run that in a namespace whose loopback is as slow as the network:
//   unshare -n sh -c 'ip link set lo up; tc qdisc add dev lo root tbf rate 1gbit burst 256kb latency 200ms; ...; wait'
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "bench/report.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/ops/pooled_memory.h"
#include "tra/train/replicas/replicas.h"

namespace tra::bench {
namespace {

struct Settings {
  int rounds = 15;
  int64_t batch = 16, length = 256;
  Replicas::Options replicas;
};

class Trainee {
 public:
  Trainee(const Settings& settings, Replicas& replicas)
      : replicas_(replicas),
        model_(std::make_shared<Decoder>(ModelConfig::Mini(6), 1)),
        optimizer_({{model_->parameters(), 0.1}}, {0.9, 0.999, 1e-8, true}) {
    model_->train();
    tokens_ = at::randint(6, {replicas.ShareOf(settings.batch).count, settings.length}, at::kLong);
    replicas.Watch(model_->parameters());
  }

  void Step(bool sum, bool overlap) {
    const at::Tensor loss = model_->Loss(tokens_, tokens_, {step_++}).loss;
    if (overlap) replicas_.BeginLastBackward();
    loss.backward();
    if (sum) replicas_.FinishGradients();
    optimizer_.Step(1e-4, 1.0 / static_cast<double>(tokens_.numel()));
  }

 private:
  Replicas& replicas_;
  std::shared_ptr<Decoder> model_;
  AdamW optimizer_;
  at::Tensor tokens_;
  uint64_t step_ = 0;
};

void Run(const Settings& settings) {
  const auto replicas = Replicas::FromEnvironment(settings.replicas);
  Trainee trainee(settings, *replicas);
  // Processes begin each step together, as in training: otherwise one would pay for what the other did before.
  const auto step = [&](bool sum, bool overlap) {
    return [&, sum, overlap] {
      replicas->Barrier();
      trainee.Step(sum, overlap);
      replicas->Barrier();
    };
  };
  const Rounds rounds({{"alone", step(false, false)}, {"after", step(true, false)}, {"during", step(true, true)}},
                      settings.rounds);
  if (replicas->rank() != 0) return;
  Report report;
  report.Section(Format("A step of mini, %d processes of one thread, batch %lld, T %lld, buckets of %.2f MiB",
                        replicas->size(), static_cast<long long>(settings.batch),
                        static_cast<long long>(settings.length),
                        static_cast<double>(settings.replicas.bucket_bytes) / (1 << 20)));
  const std::vector<std::string> names = {"gradients not summed", "summed after the backward",
                                          "summed during the backward"};
  for (size_t i = 0; i < names.size(); ++i) {
    const Spread ratio = rounds.TimeRatio(i, 1);
    report.Row(Format("%-28s %.3f s  %.3f of the time when summed after (%.3f..%.3f)", names[i].c_str(),
                      rounds.Seconds(i).median, ratio.median, ratio.low, ratio.high),
               {{"of_after", ratio.median}, {"low", ratio.low}, {"high", ratio.high}});
  }
}

}  // namespace
}  // namespace tra::bench

int main(int argc, char** argv) {
  CLI::App app("steps of processes that train one model together");
  tra::bench::Settings settings;
  app.add_option("--rounds", settings.rounds)->capture_default_str();
  app.add_option("--batch", settings.batch, "of all processes")->capture_default_str();
  app.add_option("--length", settings.length)->capture_default_str();
  app.add_option("--bucket-bytes", settings.replicas.bucket_bytes)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  tra::UsePooledMemory();
  try {
    tra::bench::Run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replicas_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
