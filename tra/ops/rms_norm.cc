#include "tra/ops/rms_norm.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/kernels/rms_norm.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/layout.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

void Check(const char* name, const at::Tensor& x, const at::Tensor& gain, double eps) {
  TORCH_CHECK_VALUE(x.defined() && gain.defined(), name, ": x and gain must be tensors");
  TORCH_CHECK_VALUE(x.dim() >= 1 && x.size(-1) >= 1 && gain.dim() == 1 && gain.size(0) == x.size(-1), name,
                    ": x must be [..., channel] and gain [channel], with one channel at least; got x ", x.sizes(),
                    ", gain ", gain.sizes());
  TORCH_CHECK_VALUE(at::isFloatingType(x.scalar_type()), name, ": x must be floating point, got ", x.scalar_type());
  TORCH_CHECK_VALUE(gain.scalar_type() == x.scalar_type(), name, ": x and gain must have one dtype, got ",
                    x.scalar_type(), " and ", gain.scalar_type(), "; convert with .to(x.dtype)");
  TORCH_CHECK_VALUE(gain.device() == x.device(), name, ": x and gain must be on one device, got ", x.device(), " and ",
                    gain.device(), "; move with .to(x.device)");
  TORCH_CHECK_VALUE(eps > 0, name, ": eps must be positive, or a zero row would be divided by zero; got ", eps);
}

void CheckAdded(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK_VALUE(y.defined() && y.sizes() == x.sizes(), "add_rms_norm: x and y must have one shape, got x ",
                    x.sizes(), y.defined() ? c10::str(", y ", y.sizes()) : ", y undefined",
                    "; expand with y.expand_as(x)");
  TORCH_CHECK_VALUE(y.scalar_type() == x.scalar_type(), "add_rms_norm: x and y must have one dtype, got ",
                    x.scalar_type(), " and ", y.scalar_type(), "; convert with .to(x.dtype)");
  TORCH_CHECK_VALUE(y.device() == x.device(), "add_rms_norm: x and y must be on one device, got ", x.device(), " and ",
                    y.device(), "; move with .to(x.device)");
}

at::Tensor ComposeRmsNorm(const at::Tensor& x, const at::Tensor& gain, double eps) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const at::Tensor wide = x.to(ComposedType(x));
  return (wide * at::rsqrt(wide.square().mean(-1, true) + eps) * gain.to(wide.scalar_type())).to(x.scalar_type());
}

RmsNormShape ShapeOf(const at::Tensor& x) {
  return {static_cast<size_t>(x.numel() / x.size(-1)), static_cast<size_t>(x.size(-1))};
}

struct Forward {
  at::Tensor sum;  // x where y is undefined
  at::Tensor out;
  at::Tensor inv_rms;  // undefined unless the backward needs it
};

// Runs the forward kernel. All tensors are contiguous; y may be undefined.
Forward RunForward(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gain, double eps, bool for_backward) {
  Forward result{x, at::empty(x.sizes(), x.options()), {}};
  RmsNormForwardArgs<float> args;
  args.shape = ShapeOf(x);
  args.x = x.data_ptr<float>();
  args.gain = gain.data_ptr<float>();
  args.eps = static_cast<float>(eps);
  args.out = result.out.data_ptr<float>();
  if (y.defined()) {
    result.sum = at::empty(x.sizes(), x.options());
    args.y = y.data_ptr<float>();
    args.sum = result.sum.data_ptr<float>();
  }
  if (for_backward) {
    result.inv_rms = at::empty({x.numel() / x.size(-1)}, x.options());
    args.inv_rms = result.inv_rms.data_ptr<float>();
  }
  AtenParallel parallel;
  RmsNormForward(args, parallel);
  return result;
}

struct Gradients {
  at::Tensor x, gain;
};

// Runs the backward kernel. The gradient of either output may be undefined where nothing flows back.
Gradients RunBackward(const char* name, AutogradContext* context, const at::Tensor& d_sum, const at::Tensor& d_out) {
  TORCH_CHECK(!c10::GradMode::is_enabled(), name,
              ": the fused kernel has no second derivative; pass float64 tensors with create_graph");
  if (!d_out.defined()) return {d_sum, at::Tensor()};
  const variable_list saved = context->get_saved_variables();
  const at::Tensor &sum = saved[0], &gain = saved[1], &inv_rms = saved[2];
  const at::Tensor d_out_rows = InOnePiece(d_out);
  const at::Tensor d_sum_rows = d_sum.defined() ? InOnePiece(d_sum) : d_sum;
  Gradients result{at::empty(sum.sizes(), sum.options()), at::empty(gain.sizes(), gain.options())};
  RmsNormBackwardArgs<float> args;
  args.shape = ShapeOf(sum);
  args.sum = sum.data_ptr<float>();
  args.gain = gain.data_ptr<float>();
  args.inv_rms = inv_rms.data_ptr<float>();
  args.d_out = d_out_rows.data_ptr<float>();
  if (d_sum_rows.defined()) args.d_sum = d_sum_rows.data_ptr<float>();
  args.d_x = result.x.data_ptr<float>();
  args.d_gain = result.gain.data_ptr<float>();
  AtenParallel parallel;
  RmsNormBackward(args, parallel);
  return result;
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& gain, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor gain_row = InOnePiece(gain);
    const Forward result = RunForward(InOnePiece(x), at::Tensor(), gain_row, eps, true);
    context->save_for_backward({result.sum, gain_row, result.inv_rms});
    context->set_materialize_grads(false);
    return result.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Gradients d = RunBackward("rms_norm", context, at::Tensor(), grads[0]);
    return {d.x, d.gain, Variable()};
  }
};

class AddRmsNormFunction : public torch::autograd::Function<AddRmsNormFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Variable& x, const Variable& y, const Variable& gain,
                               double eps) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor gain_row = InOnePiece(gain);
    const Forward result = RunForward(InOnePiece(x), InOnePiece(y), gain_row, eps, true);
    context->save_for_backward({result.sum, gain_row, result.inv_rms});
    context->set_materialize_grads(false);
    return {result.sum, result.out};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Gradients d = RunBackward("add_rms_norm", context, grads[0], grads[1]);
    return {d.x, d.x, d.gain, Variable()};
  }
};

}  // namespace

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& gain, double eps) {
  Check("rms_norm", x, gain, eps);
  if (!OnKernels(x)) return ComposeRmsNorm(x, gain, eps);
  if (c10::GradMode::is_enabled() && (x.requires_grad() || gain.requires_grad())) {
    return RmsNormFunction::apply(x, gain, eps);
  }
  return RunForward(InOnePiece(x), at::Tensor(), InOnePiece(gain), eps, false).out;
}

std::tuple<at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gain,
                                              double eps) {
  Check("add_rms_norm", x, gain, eps);
  CheckAdded(x, y);
  if (!OnKernels(x)) {
    const at::Tensor sum = x + y;
    return {sum, ComposeRmsNorm(sum, gain, eps)};
  }
  if (c10::GradMode::is_enabled() && (x.requires_grad() || y.requires_grad() || gain.requires_grad())) {
    const variable_list results = AddRmsNormFunction::apply(x, y, gain, eps);
    return {results[0], results[1]};
  }
  const Forward result = RunForward(InOnePiece(x), InOnePiece(y), InOnePiece(gain), eps, false);
  return {result.sum, result.out};
}

}  // namespace tra
