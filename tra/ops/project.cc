#include "tra/ops/project.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/ops/layout.h"
#include "tra/ops/product.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Joining the weights costs a copy of them, which does not pay with fewer rows than this.
constexpr int64_t kManyRows = 256;

std::vector<at::Tensor> ProjectTogether(const at::Tensor& x, const variable_list& weights,
                                        const variable_list& biases) {
  const at::Tensor weight = at::cat(weights);          // [sum n,E]
  const at::Tensor rows = x.reshape({-1, x.size(2)});  // [B * T,E]
  const at::Tensor all = at::empty({rows.size(0), weight.size(0)}, x.options());
  Multiply(all, rows, weight.t());
  std::vector<at::Tensor> parts;
  int64_t first = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t n = weights[i].size(0);
    const at::Tensor part = all.narrow(1, first, n);
    if (biases[i].numel() > 0) part.add_(biases[i]);
    parts.push_back(part.view({x.size(0), x.size(1), n}));
    first += n;
  }
  return parts;
}

// apply() takes a flat list: x, then the weights, then the biases (empty where there is none, as LibTorch 1.13 cannot
// record an undefined input).
class ProjectFunction : public torch::autograd::Function<ProjectFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Variable& x, at::TensorList parameters) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const size_t n = parameters.size() / 2;
    const variable_list weights(parameters.begin(), parameters.begin() + static_cast<ptrdiff_t>(n));
    const variable_list biases(parameters.begin() + static_cast<ptrdiff_t>(n), parameters.end());
    variable_list saved = {x};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(saved);
    context->set_materialize_grads(false);
    return ProjectTogether(x, weights, biases);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(), "project: no second derivative; use at::linear with create_graph");
    const variable_list saved = context->get_saved_variables();
    const size_t n = grads.size();
    const at::Tensor& x = saved[0];
    const at::Tensor rows = x.reshape({-1, x.size(2)});
    at::Tensor d_x;
    variable_list out(1 + 2 * n);
    for (size_t i = 0; i < n; ++i) {
      const at::Tensor &weight = saved[1 + i], &bias = saved[1 + n + i];
      if (!grads[i].defined()) continue;
      const at::Tensor d_y = grads[i].reshape({-1, weight.size(0)});
      // forward: y = x w^T + b   so: dx += dy w, dw = dy^T x, db = the sum of dy
      const Into into = d_x.defined() ? Into::kAdd : Into::kSet;
      if (!d_x.defined()) d_x = at::empty(rows.sizes(), rows.options());
      Multiply(d_x, d_y, weight, into);
      out[1 + i] = at::empty(weight.sizes(), weight.options());
      Multiply(out[1 + i], d_y.t(), rows);
      if (bias.numel() > 0) out[1 + n + i] = d_y.sum(0);
    }
    if (d_x.defined()) out[0] = d_x.view(x.sizes());
    return out;
  }
};

}  // namespace

std::vector<at::Tensor> Project(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases) {
  TORCH_CHECK_VALUE(x.dim() == 3, "project: x must be [batch, position, channel], got ", x.sizes());
  TORCH_CHECK_VALUE(!weights.empty() && weights.size() == biases.size(),
                    "project: as many biases as weights, undefined where ", "there is none; got ", biases.size(),
                    " for ", weights.size());
  for (const at::Tensor& weight : weights) {
    TORCH_CHECK_VALUE(weight.dim() == 2 && weight.size(1) == x.size(2), "project: weights must be [n, ", x.size(2),
                      "], got ", weight.sizes());
  }
  if (!OnKernels(x) || x.size(0) * x.size(1) < kManyRows) {
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < weights.size(); ++i) {
      parts.push_back(ApplyLinear(x, weights[i], biases[i]));
    }
    return parts;
  }
  variable_list parameters = weights;
  for (const at::Tensor& bias : biases) parameters.push_back(bias.defined() ? bias : at::empty({0}, x.options()));
  return ProjectFunction::apply(x, at::TensorList(parameters));
}

}  // namespace tra
