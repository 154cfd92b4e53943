#include "tra/ops/dropout.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/ops/aten_parallel.h"
#include "tra/ops/checks.h"
#include "tra/ops/layout.h"
#include "tra/ops/saved_draws.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor RunDropout(const at::Tensor& x_in, const DropoutOptions& options) {
  const at::Tensor x = InOnePiece(x_in);
  at::Tensor out = at::empty(x.sizes(), x.options());
  AtenParallel parallel;
  ApplyDropout(x.data_ptr<float>(), static_cast<size_t>(x.numel()), options, out.data_ptr<float>(), parallel);
  return out;
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, double p, const Draws& draws) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->saved_data["p"] = p;
    SaveDraws(*context, draws);
    return RunDropout(x, CheckedDropout("dropout", p, draws, x));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "dropout: the fused kernel has no second derivative; pass float64 tensors with create_graph");
    const Draws draws = SavedDraws(*context);
    const double p = context->saved_data["p"].toDouble();
    return {RunDropout(grads[0], CheckedDropout("dropout", p, draws, grads[0])), Variable(), Variable()};
  }
};

}  // namespace

DropoutOptions CheckedDropout(const char* name, double p, const Draws& draws, const at::Tensor& x) {
  DropoutOptions options{static_cast<float>(p), draws.seed};
  TORCH_CHECK_VALUE(p >= 0 && options.p < 1.0f, name, ": the dropout probability must be in [0, 1), got ", p);
  if (draws.cu_seqlens.defined()) {
    TORCH_CHECK_VALUE(x.dim() >= 2 && x.size(0) == 1, name, ": with cu_seqlens, x must be [1, tokens, ...], got ",
                      x.sizes());
    CheckOffsets(name, draws.cu_seqlens, x.size(1));
    options.sequences = static_cast<size_t>(draws.cu_seqlens.size(0) - 1);
    options.sequence_ids = SequenceIds(name, draws, draws.cu_seqlens.size(0) - 1);
    options.offsets = draws.cu_seqlens.data_ptr<int32_t>();
  } else if (draws.sequence_ids.defined()) {
    TORCH_CHECK_VALUE(x.dim() >= 1, name, ": ids of sequences need a batch of them, got a scalar");
    options.sequence_ids = SequenceIds(name, draws, x.size(0));
    if (x.size(0) > 0) options.sequences = static_cast<size_t>(x.size(0));
  }
  return options;
}

at::Tensor DropoutFactorsLike(const at::Tensor& x, const DropoutOptions& options) {
  const c10::NoGradGuard no_grad;
  const at::Tensor kept = RunDropout(at::ones(x.sizes(), at::kFloat), options) != 0;
  // Scaled in the type of x: 1 / (1 - p) rounded to fp32 would be too coarse for float64.
  return kept.to(x.options()) * (1 / (1 - static_cast<double>(options.p)));
}

at::Tensor Dropout(const at::Tensor& x, double p, const Draws& draws) {
  TORCH_CHECK_VALUE(x.defined() && at::isFloatingType(x.scalar_type()), "dropout: x must be a floating point tensor",
                    x.defined() ? c10::str(", got ", x.scalar_type()) : std::string());
  const DropoutOptions options = CheckedDropout("dropout", p, draws, x);
  if (options.p == 0.0f) return x;
  if (!OnKernels(x)) return x * DropoutFactorsLike(x, options);
  if (c10::GradMode::is_enabled() && x.requires_grad()) return DropoutFunction::apply(x, p, draws);
  return RunDropout(x, options);
}

}  // namespace tra
