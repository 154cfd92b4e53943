#include "tra/ops/rope.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/kernels/rope.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/layout.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor ComposeRope(const at::Tensor& x, int64_t first_position, double theta) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const int64_t half = x.size(3) / 2;
  const at::Tensor wide = x.to(ComposedType(x));
  // In float64 on the CPU, as in the kernel: at position 10^5 the angles that fp32 can hold are 1/128 apart.
  const at::Tensor channels = at::arange(half, at::kDouble);
  const at::Tensor positions = at::arange(first_position, first_position + x.size(2), at::kDouble);
  const at::Tensor angles =
      positions.unsqueeze(1) * at::pow(theta, channels * (-2.0 / static_cast<double>(x.size(3)))).unsqueeze(0);
  const at::Tensor cosine = angles.cos().to(wide.options()), sine = angles.sin().to(wide.options());
  const at::Tensor a = wide.narrow(3, 0, half), b = wide.narrow(3, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, 3).to(x.scalar_type());
}

at::Tensor Run(const at::Tensor& x_in, int64_t first_position, double theta, bool backwards) {
  const at::Tensor x = WithAdjacentChannels(x_in);
  at::Tensor out = EmptyLike(x, x.size(2), x.size(3));
  const auto size = [&](int64_t dim) { return static_cast<size_t>(x.size(dim)); };
  RopeArgs<float> args;
  args.shape = {size(0), size(1), size(2), size(3)};
  args.x = View(x);
  args.out = MutableView(out);
  args.first_position = first_position;
  args.theta = theta;
  args.backwards = backwards;
  AtenParallel parallel;
  Rotate(args, parallel);
  return out;
}

class RopeFunction : public torch::autograd::Function<RopeFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, int64_t first_position, double theta) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->saved_data["first_position"] = first_position;
    context->saved_data["theta"] = theta;
    return Run(x, first_position, theta, false);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "rope: the fused kernel has no second derivative; pass float64 tensors with create_graph");
    auto& data = context->saved_data;
    return {Run(grads[0], data["first_position"].toInt(), data["theta"].toDouble(), true), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor Rope(const at::Tensor& x, int64_t first_position, double theta) {
  TORCH_CHECK_VALUE(x.defined() && at::isFloatingType(x.scalar_type()), "rope: x must be a floating point tensor",
                    x.defined() ? c10::str(", got ", x.scalar_type()) : std::string());
  TORCH_CHECK_VALUE(x.dim() == 4, "rope: x must be [batch, head, position, channel], got ", x.sizes());
  TORCH_CHECK_VALUE(x.size(3) % 2 == 0, "rope: channels turn in pairs, so their number must be even; got x ",
                    x.sizes());
  TORCH_CHECK_VALUE(theta > 0, "rope: theta must be positive, got ", theta);
  if (!OnKernels(x)) return ComposeRope(x, first_position, theta);
  if (c10::GradMode::is_enabled() && x.requires_grad()) return RopeFunction::apply(x, first_position, theta);
  return Run(x, first_position, theta, false);
}

}  // namespace tra
