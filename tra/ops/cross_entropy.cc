// Computes the loss chunk by chunk, and its gradients along with it.
#include "tra/ops/cross_entropy.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tra/kernels/cross_entropy.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/cross_entropy_check.h"
#include "tra/ops/cross_entropy_composed.h"
#include "tra/ops/product.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

bool OnKernels(const at::Tensor& hidden) { return hidden.device().is_cpu() && hidden.scalar_type() == at::kFloat; }

// Holds the positions that count, in order.
struct Supervised {
  int64_t positions = 0;         // number of positions, supervised or not
  std::vector<int64_t> index;    // indices of the supervised ones; empty if all are
  std::vector<int64_t> targets;  // targets of the supervised ones

  int64_t Count() const { return static_cast<int64_t>(targets.size()); }
  bool All() const { return Count() == positions; }
};

Supervised FindSupervised(const char* name, const at::Tensor& targets, int64_t vocabulary) {
  const at::Tensor flat = targets.contiguous();
  const int64_t* target = flat.data_ptr<int64_t>();
  Supervised supervised;
  supervised.positions = flat.numel();
  for (int64_t i = 0; i < supervised.positions; ++i) {
    if (target[i] < 0) continue;
    CheckLargestTarget(name, target[i], vocabulary);
    supervised.index.push_back(i);
    supervised.targets.push_back(target[i]);
  }
  if (supervised.All()) supervised.index.clear();
  return supervised;
}

at::Tensor AsTensor(const std::vector<int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

// Holds the losses of the supervised positions, and the gradients of their sum where wanted.
struct Losses {
  std::vector<double> losses;
  std::vector<uint8_t> correct;
  at::Tensor d_hidden;  // shaped like hidden
  at::Tensor d_weight;  // [V, E]

  // Adds the losses in the order of the positions.
  double Sum() const { return std::accumulate(losses.begin(), losses.end(), 0.0); }
  int64_t Correct() const { return std::accumulate(correct.begin(), correct.end(), int64_t{0}); }
};

struct Wanted {
  bool d_hidden = false;
  bool d_weight = false;
};

Losses RunChunks(const at::Tensor& hidden, const at::Tensor& weight, const Supervised& supervised, Wanted wanted,
                 int64_t logits_bytes) {
  const c10::NoGradGuard no_grad;
  // Autocast would lower the products to half precision.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const int64_t count = supervised.Count(), vocabulary = weight.size(0), channels = weight.size(1);
  Losses result;
  result.losses.resize(supervised.targets.size());
  result.correct.resize(supervised.targets.size());
  if (count == 0) {
    if (wanted.d_hidden) result.d_hidden = at::zeros(hidden.sizes(), hidden.options());
    if (wanted.d_weight) result.d_weight = at::zeros(weight.sizes(), weight.options());
    return result;
  }
  const at::Tensor all_rows = hidden.reshape({supervised.positions, channels});
  const at::Tensor index = AsTensor(supervised.index);
  const at::Tensor rows = supervised.All() ? all_rows : all_rows.index_select(0, index);
  // Gathered rows are a copy: once a chunk has been read for the last time, its gradient overwrites it.
  const at::Tensor d_rows = supervised.All() && wanted.d_hidden ? at::empty(rows.sizes(), rows.options()) : rows;
  if (wanted.d_weight) result.d_weight = at::empty(weight.sizes(), weight.options());

  const int64_t most = std::max<int64_t>(1, logits_bytes / (vocabulary * static_cast<int64_t>(sizeof(float))));
  const int64_t chunks = (count + most - 1) / most;
  const int64_t chunk_rows = (count + chunks - 1) / chunks;
  const at::Tensor buffer = at::empty({chunk_rows, vocabulary}, hidden.options());
  AtenParallel parallel;
  for (int64_t begin = 0; begin < count; begin += chunk_rows) {
    const int64_t n = std::min(chunk_rows, count - begin);
    const at::Tensor chunk = rows.narrow(0, begin, n);
    at::Tensor logits = buffer.narrow(0, 0, n);
    Multiply(logits, chunk, weight.t());
    CrossEntropyArgs<float> args;
    args.rows = static_cast<size_t>(n);
    args.classes = static_cast<size_t>(vocabulary);
    args.logits = logits.data_ptr<float>();
    args.targets = supervised.targets.data() + begin;
    args.losses = result.losses.data() + begin;
    args.correct = result.correct.data() + begin;
    if (wanted.d_hidden || wanted.d_weight) args.gradient = logits.data_ptr<float>();
    CrossEntropy(args, parallel);
    // forward: logits = rows weight^T   so: d_weight = d_logits^T rows, d_rows = d_logits weight
    if (wanted.d_weight) Multiply(result.d_weight, logits.t(), chunk, begin == 0 ? Into::kSet : Into::kAdd);
    if (wanted.d_hidden) Multiply(d_rows.narrow(0, begin, n), logits, weight);
  }
  if (wanted.d_hidden) {
    result.d_hidden =
        supervised.All() ? d_rows : at::zeros(all_rows.sizes(), rows.options()).index_copy_(0, index, d_rows);
    result.d_hidden = result.d_hidden.view(hidden.sizes());
  }
  return result;
}

class LinearCrossEntropyFunction : public torch::autograd::Function<LinearCrossEntropyFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& hidden, const Variable& weight,
                          const Supervised& supervised, Wanted wanted, int64_t logits_bytes, int64_t* correct) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const Losses losses = RunChunks(hidden, weight, supervised, wanted, logits_bytes);
    variable_list gradients;
    if (wanted.d_hidden) gradients.push_back(losses.d_hidden);
    if (wanted.d_weight) gradients.push_back(losses.d_weight);
    context->save_for_backward(gradients);
    context->saved_data["d_hidden"] = wanted.d_hidden;
    context->saved_data["d_weight"] = wanted.d_weight;
    *correct = losses.Correct();
    return at::scalar_tensor(losses.Sum(), hidden.options());
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "linear_cross_entropy: the chunked loss has no second derivative; use LinearCrossEntropyComposed with "
                "create_graph");
    variable_list gradients = context->get_saved_variables();
    // In the usual backward() of the loss itself there is nothing to multiply, and autograd may keep the tensors as
    // they are.
    if (grads[0].item<float>() != 1.0f) {
      for (at::Tensor& each : gradients) each = each * grads[0];
    }
    variable_list result(6);
    if (context->saved_data["d_hidden"].toBool()) result[0] = gradients.front();
    if (context->saved_data["d_weight"].toBool()) result[1] = gradients.back();
    return result;
  }
};

}  // namespace

CrossEntropySum LinearCrossEntropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                   int64_t logits_bytes) {
  CheckCrossEntropy("linear_cross_entropy", hidden, weight, targets);
  if (!OnKernels(hidden)) return LinearCrossEntropyComposed(hidden, weight, targets);
  const Supervised supervised = FindSupervised("linear_cross_entropy", targets, weight.size(0));
  CrossEntropySum result;
  result.supervised = supervised.Count();
  const bool recording = c10::GradMode::is_enabled();
  const Wanted wanted{recording && hidden.requires_grad(), recording && weight.requires_grad()};
  if (wanted.d_hidden || wanted.d_weight) {
    result.loss = LinearCrossEntropyFunction::apply(hidden, weight, supervised, wanted, logits_bytes, &result.correct);
  } else {
    const Losses losses = RunChunks(hidden, weight, supervised, wanted, logits_bytes);
    result.correct = losses.Correct();
    result.loss = at::scalar_tensor(losses.Sum(), hidden.options());
  }
  return result;
}

PositionLosses TokenLosses(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                           int64_t logits_bytes) {
  const c10::NoGradGuard no_grad;
  CheckCrossEntropy("token_losses", hidden, weight, targets);
  SupervisedLosses each;
  if (OnKernels(hidden)) {
    const Supervised supervised = FindSupervised("token_losses", targets, weight.size(0));
    const Losses losses = RunChunks(hidden, weight, supervised, {}, logits_bytes);
    each.positions = supervised.All() ? at::arange(supervised.positions) : AsTensor(supervised.index);
    each.losses = at::empty({supervised.Count()}, at::kDouble);
    each.correct = at::empty({supervised.Count()}, at::kBool);
    std::copy(losses.losses.begin(), losses.losses.end(), each.losses.data_ptr<double>());
    std::copy(losses.correct.begin(), losses.correct.end(), each.correct.data_ptr<bool>());
  } else {
    each = ComposedLosses("token_losses", hidden, weight, targets);
  }
  const auto spread = [&](const at::Tensor& x, at::ScalarType dtype) {
    return at::zeros({targets.numel()}, hidden.options().dtype(dtype))
        .index_copy_(0, each.positions, x.to(dtype))
        .view(targets.sizes());
  };
  return {spread(each.losses, at::kDouble), spread(each.correct, at::kBool)};
}

}  // namespace tra
