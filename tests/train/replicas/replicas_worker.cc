// Runs as one of the processes of a test. The variables of torchrun say which one, and how many there are.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/tasks/batch_tensors.h"
#include "tra/tasks/generated.h"
#include "tra/train/replicas/replicas.h"

namespace tra {
namespace {

using Arguments = std::vector<std::string>;

std::unique_ptr<Replicas> Join(int64_t bucket_bytes, int64_t timeout_ms = 30000) {
  Replicas::Options options;
  options.bucket_bytes = bucket_bytes;
  options.timeout = std::chrono::milliseconds(timeout_ms);
  return Replicas::FromEnvironment(options);
}

uint64_t HashOf(const std::vector<at::Tensor>& tensors) {
  uint64_t hash = 14695981039346656037U;
  for (const at::Tensor& each : tensors) {
    const at::Tensor data = each.detach().contiguous();
    const auto* bytes = static_cast<const unsigned char*>(data.data_ptr());
    for (size_t i = 0; i < data.nbytes(); ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
  }
  return hash;
}

// train ATTENTION BATCH BUCKET_BYTES OVERLAP: trains ten steps of copy. Prints their mean losses, the numbers of parts
// of this process, and a hash of the weights.
void Train(const Arguments& arguments) {
  const int64_t batch_size = std::stoll(arguments.at(1));
  const bool overlap = arguments.at(3) == "1";
  TaskOptions task;
  task.lengths = Range{4, 12};
  const GeneratedExamples source("copy", "train", 1, task);
  ModelConfig config;
  config.attention = arguments.at(0);
  config.vocabulary = static_cast<int64_t>(source.names().size());
  config.layers = 2;
  config.heads = 2;
  config.width = 32;
  config.embedding_dropout = config.attention_dropout = config.mlp_dropout = 0;
  config.train_length = 64;
  config.max_length = 64;

  const auto replicas = Join(std::stoll(arguments.at(2)));
  // Ranks begin with different weights, since rank 0's must be the ones that count.
  const auto model = std::make_shared<Decoder>(config, 1 + replicas->rank());
  model->train();
  replicas->Watch(model->parameters());
  AdamW optimizer({{model->parameters(), 0.1}});
  constexpr int64_t kPartPositions = 40;  // a few sequences
  std::string parts;
  for (int64_t step = 0; step < 10; ++step) {
    const Replicas::Share share = replicas->ShareOf(batch_size);
    Batch batch;
    if (share.count > 0) batch = MakeBatch(source, step * batch_size + share.first, share.count, kPartPositions);
    std::vector<double> sums = {0, static_cast<double>(batch.answers)};
    for (FlatBatch& part : batch.parts) {
      const BatchTensors view = ViewBatch(part, at::kCPU);
      const at::Tensor loss = model->Loss(view.tokens, view.targets, {{0, view.sequence_ids, view.cu_seqlens}}).loss;
      if (overlap && &part == &batch.parts.back()) replicas->BeginLastBackward();
      loss.backward();
      sums[0] += loss.item<double>();
    }
    replicas->FinishGradients();
    replicas->Sum(sums);
    std::printf("loss %.17g\n", sums[0] / sums[1]);
    optimizer.Step(1e-3, 1 / sums[1]);
    optimizer.ZeroGrad();
    parts += std::to_string(batch.parts.size()) + ",";
  }
  std::printf("parts %s\nweights %016llx\n", parts.c_str(),
              static_cast<unsigned long long>(HashOf(model->parameters())));
}

// gradients BUCKET_BYTES OVERLAP: sums gradients of parameters that not every process uses. Prints them after each of
// three steps.
void Gradients(const Arguments& arguments) {
  const auto replicas = Join(std::stoll(arguments.at(0)));
  const bool overlap = arguments.at(1) == "1";
  std::vector<at::Tensor> parameters;
  for (const int64_t size : {3, 40, 1, 17}) parameters.push_back(at::ones({size}).requires_grad_());
  const at::Tensor &all = parameters[0], &last = parameters[1], &nobody = parameters[2], &odd = parameters[3];
  replicas->Watch(parameters);
  const int rank = replicas->rank();
  for (int step = 0; step < 3; ++step) {
    // Rank r runs r backwards. The numbers are small integers, so sums are exact.
    for (int i = 0; i < rank; ++i) {
      at::Tensor loss = (all * (10 * step + rank)).sum();
      if (rank == replicas->size() - 1) loss = loss + (last * at::arange(40)).sum();
      if (rank % 2 == 1 && step == 1) loss = loss + (odd * 5).sum();
      if (overlap && i == rank - 1) replicas->BeginLastBackward();
      loss.backward();
    }
    replicas->FinishGradients();
    for (const at::Tensor& each : {all, last, nobody, odd}) {
      const at::Tensor grad = each.grad();
      if (!grad.defined()) {
        std::printf(" none");
      } else {
        std::printf(" %g..%g", grad.min().item<double>(), grad.max().item<double>());
      }
    }
    std::printf("\n");
    if (step == 0) continue;  // the next step adds to these gradients, which are in the buffers already
    for (at::Tensor& each : parameters) each.mutable_grad().reset();
  }
}

// sums: sums values, with copies and a barrier after that.
void Sums() {
  const auto replicas = Join(1 << 20);
  std::vector<double> values = {0.1 * (replicas->rank() + 1), 1};
  replicas->Sum(values);
  const at::Tensor integers = at::full({2, 3}, replicas->rank() + 7, at::kLong);
  const at::Tensor across = at::full({2, 3}, replicas->rank() + 0.5).t();
  replicas->Broadcast({integers, across});
  replicas->Barrier();
  std::printf("%a %g %lld %g\n", values[0], values[1], static_cast<long long>(integers.sum().item<int64_t>()),
              across.sum().item<double>());
}

// first MILLISECONDS TIMEOUT FAIL: rank 0 works for this long, and then fails if FAIL is 1.
void First(const Arguments& arguments) {
  const auto replicas = Join(1 << 20, std::stoll(arguments.at(1)));
  bool worked = false;
  replicas->OnFirst([&] {
    worked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoll(arguments.at(0))));
    if (arguments.at(2) == "1") throw std::runtime_error("the disk is full");
  });
  replicas->OnFirst([] {});
  replicas->Barrier();
  std::printf("%s\n", worked ? "worked" : "waited");
}

// peer TIMEOUT: sums until something happens to another process.
void Peer(const Arguments& arguments) {
  const auto replicas = Join(1 << 20, std::stoll(arguments.at(0)));
  std::vector<double> values = {0};
  replicas->Sum(values);
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) replicas->Sum(values);
}

// meet TIMEOUT: meets the other processes.
void Meet(const Arguments& arguments) {
  Join(1 << 20, std::stoll(arguments.at(0)));
  std::printf("met\n");
}

// shapes: rank 1 has a parameter of another shape.
void Shapes() {
  const auto replicas = Join(1 << 20);
  replicas->Watch({at::ones({2, replicas->rank() == 1 ? 3 : 2}).requires_grad_()});
  replicas->Barrier();
}

// twice: runs two backwards after announcing one.
void Twice() {
  const auto replicas = Join(1 << 20);
  const at::Tensor parameter = at::ones({2}).requires_grad_();
  replicas->Watch({parameter});
  replicas->BeginLastBackward();
  parameter.sum().backward();
  parameter.sum().backward();
}

void Run(const std::string& what, const Arguments& arguments) {
  if (what == "train") return Train(arguments);
  if (what == "gradients") return Gradients(arguments);
  if (what == "sums") return Sums();
  if (what == "first") return First(arguments);
  if (what == "peer") return Peer(arguments);
  if (what == "meet") return Meet(arguments);
  if (what == "shapes") return Shapes();
  if (what == "twice") return Twice();
  throw std::invalid_argument("unknown: " + what);
}

}  // namespace
}  // namespace tra

int main(int argc, char** argv) {
  at::set_num_threads(1);
  try {
    tra::Run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
