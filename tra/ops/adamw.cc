#include "tra/ops/adamw.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "tra/kernels/adamw.h"
#include "tra/kernels/sum_of_squares.h"
#include "tra/ops/aten_parallel.h"

namespace tra {
namespace {

bool OnKernels(const at::Tensor& parameter) {
  return parameter.device().is_cpu() && parameter.scalar_type() == at::kFloat && parameter.is_contiguous();
}

void UpdateComposed(const at::Tensor& parameter, const at::Tensor& grad, const AdamW::State& state,
                    const AdamWOptions& options, double weight_decay) {
  const auto step = static_cast<double>(state.step);
  const at::Tensor g = options.grad_scale == 1.0 ? grad : grad * options.grad_scale;
  parameter.mul_(1 - options.lr * weight_decay);
  state.exp_avg.mul_(options.beta1).add_(g, 1 - options.beta1);
  state.exp_avg_sq.mul_(options.beta2).addcmul_(g, g, 1 - options.beta2);
  const at::Tensor denominator =
      (state.exp_avg_sq.sqrt() / std::sqrt(1 - std::pow(options.beta2, step))).add_(options.eps);
  parameter.addcdiv_(state.exp_avg, denominator, -options.lr / (1 - std::pow(options.beta1, step)));
}

void Check(const AdamWOptions& options) {
  try {
    CheckAdamW(options);
  } catch (const std::invalid_argument& error) {
    TORCH_CHECK_VALUE(false, error.what());
  }
}

}  // namespace

AdamW::AdamW(std::vector<Group> groups) : AdamW(std::move(groups), Options()) {}

AdamW::AdamW(std::vector<Group> groups, const Options& options) : options_(options) {
  AdamWOptions checked;
  checked.beta1 = options.beta1;
  checked.beta2 = options.beta2;
  checked.eps = options.eps;
  Check(checked);
  std::unordered_set<const void*> seen;
  for (Group& group : groups) {
    for (at::Tensor& parameter : group.parameters) {
      TORCH_CHECK_VALUE(parameter.defined() && at::isFloatingType(parameter.scalar_type()),
                        "adamw: parameters must be floating point tensors");
      TORCH_CHECK_VALUE(parameter.is_leaf(),
                        "adamw: a parameter must be a leaf, or no gradient reaches it; got the result of ",
                        "an operation, ", parameter.sizes(), "; pass what it was computed from");
      TORCH_CHECK_VALUE(seen.insert(parameter.unsafeGetTensorImpl()).second,
                        "adamw: a parameter is listed twice and would be stepped twice, ", parameter.sizes(),
                        "; list tied parameters once");
      parameters_.push_back({std::move(parameter), group.weight_decay});
    }
  }
  states_.resize(parameters_.size());
}

void AdamW::Step(double lr, double grad_scale) {
  const c10::NoGradGuard no_grad;
  AdamWOptions options;
  options.lr = lr;
  options.beta1 = options_.beta1;
  options.beta2 = options_.beta2;
  options.eps = options_.eps;
  options.grad_scale = grad_scale;
  options.zero_grad = options_.zero_grad;
  Check(options);
  for (const Parameter& each : parameters_) {  // checks all of them before any parameter is changed
    const at::Tensor& grad = each.tensor.grad();
    TORCH_CHECK_VALUE(!grad.defined() || grad.layout() == at::kStrided, "adamw: gradients must be dense, got ",
                      grad.layout(), "; use an embedding with sparse=False");
  }
  std::vector<AdamWArray<float>> arrays;
  std::vector<at::Tensor> copies;  // contiguous copies of strided gradients, alive until they are read
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].tensor;
    const at::Tensor& grad = parameter.grad();
    if (!grad.defined()) continue;
    State& state = states_[i];
    if (!state.exp_avg.defined()) {
      state.exp_avg = at::zeros_like(parameter);
      state.exp_avg_sq = at::zeros_like(parameter);
    }
    ++state.step;
    if (!OnKernels(parameter)) {
      UpdateComposed(parameter, grad, state, options, parameters_[i].weight_decay);
      if (options.zero_grad) grad.zero_();
      continue;
    }
    const at::Tensor adjacent = grad.contiguous();
    if (!adjacent.is_same(grad)) copies.push_back(adjacent);
    AdamWArray<float> array;
    array.n = static_cast<size_t>(parameter.numel());
    array.parameter = parameter.data_ptr<float>();
    array.grad = adjacent.data_ptr<float>();
    array.exp_avg = state.exp_avg.data_ptr<float>();
    array.exp_avg_sq = state.exp_avg_sq.data_ptr<float>();
    array.step = state.step;
    array.weight_decay = parameters_[i].weight_decay;
    arrays.push_back(array);
    if (options.zero_grad && !adjacent.is_same(grad)) grad.zero_();
    // As every in-place operation does, so that a backward through a graph of the old values is refused.
    parameter.unsafeGetTensorImpl()->bump_version();
  }
  AtenParallel parallel;
  AdamWUpdate(arrays, options, parallel);
}

void AdamW::ZeroGrad() {
  for (const Parameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

double AdamW::GradNorm() const {
  const c10::NoGradGuard no_grad;
  std::vector<ConstArray> arrays;
  std::vector<at::Tensor> copies;
  std::vector<at::Tensor> squares;  // summed on their device and fetched once, so that it need not wait for each
  for (const Parameter& parameter : parameters_) {
    const at::Tensor& grad = parameter.tensor.grad();
    if (!grad.defined()) continue;
    if (!OnKernels(parameter.tensor) || grad.layout() != at::kStrided) {
      const at::Tensor dense = grad.layout() == at::kStrided ? grad : grad.to_dense();
      squares.push_back(dense.to(at::kDouble).square().sum());
      continue;
    }
    copies.push_back(grad.contiguous());
    arrays.push_back({static_cast<size_t>(grad.numel()), copies.back().data_ptr<float>()});
  }
  AtenParallel parallel;
  const double others = squares.empty() ? 0.0 : at::stack(squares).sum().item<double>();
  return std::sqrt(others + SumOfSquares(arrays, parallel));
}

void AdamW::LoadStates(const std::vector<State>& states) {
  TORCH_CHECK_VALUE(states.size() == parameters_.size(), "adamw: ", states.size(), " states for ", parameters_.size(),
                    " parameters; load the states of the same model");
  std::vector<State> loaded;
  for (size_t i = 0; i < states.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].tensor;
    State state;
    state.step = states[i].step;
    for (const auto& [from, to] :
         {std::pair(&states[i].exp_avg, &state.exp_avg), std::pair(&states[i].exp_avg_sq, &state.exp_avg_sq)}) {
      TORCH_CHECK_VALUE(from->defined() == (state.step > 0), "adamw: state ", i, " has ", state.step, " steps but ",
                        from->defined() ? "a" : "no", " moment; a moment belongs to every parameter that was stepped");
      if (!from->defined()) continue;
      TORCH_CHECK_VALUE(from->sizes() == parameter.sizes(), "adamw: state ", i, " is ", from->sizes(),
                        " but its parameter ", parameter.sizes(), "; load the states of the same model");
      *to = at::empty_like(parameter.detach()).copy_(*from);
    }
    loaded.push_back(state);
  }
  states_ = std::move(loaded);
}

}  // namespace tra
