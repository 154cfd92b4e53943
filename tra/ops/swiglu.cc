#include "tra/ops/swiglu.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/kernels/swiglu.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/dropout.h"
#include "tra/ops/layout.h"
#include "tra/ops/saved_draws.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor ComposeSwiGlu(const at::Tensor& x, const DropoutOptions& options) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const int64_t width = x.size(-1) / 2;
  const at::Tensor wide = x.to(ComposedType(x));
  at::Tensor out = wide.narrow(-1, 0, width) * at::silu(wide.narrow(-1, width, width));
  if (options.p > 0.0f) out = out * DropoutFactorsLike(out, options);
  return out.to(x.scalar_type());
}

// Returns the kernel's shape for x [..., 2F].
SwiGluShape ShapeOf(const at::Tensor& x) {
  const int64_t channels = x.size(-1);
  return {static_cast<size_t>(channels == 0 ? 0 : x.numel() / channels), static_cast<size_t>(channels / 2)};
}

at::Tensor RunForward(const at::Tensor& x, const DropoutOptions& options) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() /= 2;
  at::Tensor out = at::empty(sizes, x.options());
  SwiGluForwardArgs<float> args;
  args.shape = ShapeOf(x);
  args.x = x.data_ptr<float>();
  args.dropout = options;
  args.out = out.data_ptr<float>();
  AtenParallel parallel;
  SwiGluForward(args, parallel);
  return out;
}

class SwiGluFunction : public torch::autograd::Function<SwiGluFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x_in, double p, const Draws& draws) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor x = InOnePiece(x_in);
    context->save_for_backward({x});
    context->saved_data["p"] = p;
    SaveDraws(*context, draws);
    return RunForward(x, CheckedDropout("swiglu", p, draws, x));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "swiglu: the fused kernel has no second derivative; pass float64 tensors with create_graph");
    const at::Tensor x = context->get_saved_variables()[0];
    const at::Tensor d_out = InOnePiece(grads[0]);
    const at::Tensor d_x = at::empty(x.sizes(), x.options());
    const Draws draws = SavedDraws(*context);
    SwiGluBackwardArgs<float> args;
    args.shape = ShapeOf(x);
    args.x = x.data_ptr<float>();
    args.dropout = CheckedDropout("swiglu", context->saved_data["p"].toDouble(), draws, x);
    args.d_out = d_out.data_ptr<float>();
    args.d_x = d_x.data_ptr<float>();
    AtenParallel parallel;
    SwiGluBackward(args, parallel);
    return {d_x, Variable(), Variable()};
  }
};

}  // namespace

at::Tensor SwiGlu(const at::Tensor& x, double dropout_p, const Draws& draws) {
  TORCH_CHECK_VALUE(x.defined() && at::isFloatingType(x.scalar_type()), "swiglu: x must be a floating point tensor",
                    x.defined() ? c10::str(", got ", x.scalar_type()) : std::string());
  TORCH_CHECK_VALUE(x.dim() >= 1 && x.size(-1) % 2 == 0,
                    "swiglu: x must be [..., 2 channels], up and gate side by side; got ", x.sizes(),
                    "; concatenate them with cat([up, gate], -1)");
  const DropoutOptions options = CheckedDropout("swiglu", dropout_p, draws, x);
  if (!OnKernels(x)) return ComposeSwiGlu(x, options);
  if (c10::GradMode::is_enabled() && x.requires_grad()) return SwiGluFunction::apply(x, dropout_p, draws);
  return RunForward(InOnePiece(x), options);
}

}  // namespace tra
