// Connects the processes that train one model together, each on its share of every batch.
//
// A step's loss is a sum over answers, so its gradients are the sums of the processes' gradients, however the answers
// are distributed:
//
//   auto replicas = Replicas::FromEnvironment();
//   replicas->Watch(model->parameters());
//   for (each step) {
//     const auto share = replicas->ShareOf(batch_size);
//     Batch batch;
//     if (share.count > 0) batch = MakeBatch(source, step * batch_size + share.first, share.count);
//     for (each part) {
//       // Dropout and labels are drawn by the ids of the sequences: ViewBatch in tra/tasks/batch_tensors.h.
//       const Pass pass{{seed, view.sequence_ids, view.cu_seqlens}};
//       const at::Tensor loss = model->Loss(view.tokens, view.targets, pass).loss;
//       if (it is the last) replicas->BeginLastBackward();
//       loss.backward();
//     }
//     replicas->FinishGradients();
//     std::vector<double> sums = {loss, answers};
//     replicas->Sum(sums);
//     optimizer.Step(lr, 1 / sums[1]);  // the same on all: weights stay equal to the last bit
//   }
//
// All processes must make the same calls in the same order, except for BeginLastBackward. A single process can make all
// of them at no cost. Processes on one machine should share its cores: at::set_num_threads(cores / processes).
#ifndef TRA_TRAIN_REPLICAS_REPLICAS_H_
#define TRA_TRAIN_REPLICAS_REPLICAS_H_

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tra/base/fields.h"

namespace tra {

class GradientBuckets;
class ProcessGroup;

// Any failure among the processes throws std::runtime_error with the rank, the time waited and the remedy. A process
// that ends is noticed at once (with NCCL perhaps as late as one that hangs), one that hangs after Options::timeout;
// the others then cannot continue.
class Replicas {
 public:
  struct Options {
    // Where the parameters are. NCCL connects GPUs if this LibTorch has it; everything else goes through the CPU and
    // Gloo.
    at::Device device = at::kCPU;
    // The longest that a process waits for another to start, or to come to the same call.
    std::chrono::milliseconds timeout = std::chrono::seconds(50);
    int64_t bucket_bytes = int64_t{4} << 20;  // size of the gradients that are summed at once
  };

  // A range of the examples of a batch.
  struct Share {
    int64_t first = 0;
    int64_t count = 0;
  };

  // Meets the other processes according to the variables of torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT);
  // without them, this is the only process. Throws std::invalid_argument for a variable that makes no sense.
  static std::unique_ptr<Replicas> FromEnvironment(const Options& options);
  static std::unique_ptr<Replicas> FromEnvironment() { return FromEnvironment(Options()); }
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  int rank() const;
  int size() const;
  at::Device device() const { return options_.device; }

  // Returns this process's part of `count` examples, in the order of the ranks and as even as possible.
  Share ShareOf(int64_t count) const;

  // Sets the parameters whose gradients are summed, and gives all processes rank 0's values. Throws if their shapes
  // differ from rank 0's. Call it only once.
  void Watch(const std::vector<at::Tensor>& parameters);

  // Throws in every process whose text differs from rank 0's, with a message that it "has `what` than rank 0".
  void RequireSame(const std::string& text, const char* what);

  // Announces that the next backward is this process's last of the step, so that gradients are sent while it still
  // runs. A process without any backward, or one that does not need the overlap, may leave this out. Measured by
  // replicas_bench, 2 processes, mini: 0.81 to 0.92 of a step's time in four runs where the loopback was slowed to 1
  // Gbit/s; no measurable difference where it was not.
  void BeginLastBackward();

  // Replaces gradients by their sums over the processes, the same to the last bit in each. If only some processes have
  // a gradient, it counts as zero in the others; if none has one, none gets one. The gradients live in memory of
  // Replicas, and are overwritten by the next step's.
  void FinishGradients();

  // Replaces values by their sums over the processes, the same to the last bit in each.
  void Sum(std::vector<double>& values);

  // Does the same for a struct whose fields are all doubles.
  template <typename Fields>
  void SumFields(Fields& fields) {
    std::vector<double> values;
    AppendFields(fields, values);
    Sum(values);
    ReadFields(values, 0, fields);
  }

  // Copies rank 0's contents to all processes.
  void Broadcast(const std::vector<at::Tensor>& tensors);

  // Returns when all processes have called it.
  void Barrier();

  // Runs `work` on rank 0 while the others wait, however long it takes: for checkpoints and evaluation. If it throws,
  // all processes throw. It must not use Replicas.
  void OnFirst(const std::function<void()>& work);

 private:
  Replicas(std::unique_ptr<ProcessGroup> group, const Options& options);

  void SumTensor(const at::Tensor& values, const char* what);

  const Options options_;
  std::unique_ptr<ProcessGroup> group_;  // null for a single process
  std::unique_ptr<GradientBuckets> buckets_;
};

}  // namespace tra

#endif  // TRA_TRAIN_REPLICAS_REPLICAS_H_
