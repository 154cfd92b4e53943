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

at::Tensor ComposeRope(const at::Tensor& x, const RowPositions& rows, double theta) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const int64_t half = x.size(3) / 2;
  const at::Tensor wide = x.to(ComposedType(x));
  // In float64 on the CPU, as in the kernel: at position 10^5 the angles that fp32 can hold are 1/128 apart.
  const at::Tensor channels = at::arange(half, at::kDouble);
  const at::Tensor positions =
      rows.each.defined() ? rows.each.to(at::kDouble) : at::arange(rows.first, rows.first + x.size(2), at::kDouble);
  const at::Tensor angles =
      positions.unsqueeze(1) * at::pow(theta, channels * (-2.0 / static_cast<double>(x.size(3)))).unsqueeze(0);
  const at::Tensor cosine = angles.cos().to(wide.options()), sine = angles.sin().to(wide.options());
  const at::Tensor a = wide.narrow(3, 0, half), b = wide.narrow(3, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, 3).to(x.scalar_type());
}

at::Tensor Run(const at::Tensor& x_in, const RowPositions& rows, double theta, bool backwards) {
  const at::Tensor x = WithAdjacentChannels(x_in);
  at::Tensor out = EmptyLike(x, x.size(2), x.size(3));
  const auto size = [&](int64_t dim) { return static_cast<size_t>(x.size(dim)); };
  RopeArgs<float> args;
  args.shape = {size(0), size(1), size(2), size(3)};
  args.x = View(x);
  args.out = MutableView(out);
  args.first_position = rows.first;
  if (rows.each.defined()) args.row_positions = rows.each.data_ptr<int64_t>();
  args.theta = theta;
  args.backwards = backwards;
  AtenParallel parallel;
  Rotate(args, parallel);
  return out;
}

class RopeFunction : public torch::autograd::Function<RopeFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const RowPositions& rows, double theta) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->saved_data["first_position"] = rows.first;
    if (rows.each.defined()) context->saved_data["positions"] = rows.each.clone();  // a caller may reuse the tensor
    context->saved_data["theta"] = theta;
    return Run(x, rows, theta, false);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "rope: the fused kernel has no second derivative; pass float64 tensors with create_graph");
    auto& data = context->saved_data;
    RowPositions rows;
    rows.first = data["first_position"].toInt();
    if (data.find("positions") != data.end()) rows.each = data["positions"].toTensor();
    return {Run(grads[0], rows, data["theta"].toDouble(), true), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor Rope(const at::Tensor& x, const RowPositions& rows, double theta) {
  TORCH_CHECK_VALUE(x.defined() && at::isFloatingType(x.scalar_type()), "rope: x must be a floating point tensor",
                    x.defined() ? c10::str(", got ", x.scalar_type()) : std::string());
  TORCH_CHECK_VALUE(x.dim() == 4, "rope: x must be [batch, head, position, channel], got ", x.sizes());
  TORCH_CHECK_VALUE(x.size(3) % 2 == 0, "rope: channels turn in pairs, so their number must be even; got x ",
                    x.sizes());
  TORCH_CHECK_VALUE(theta > 0, "rope: theta must be positive, got ", theta);
  TORCH_CHECK_VALUE(!rows.each.defined() ||
                        (rows.each.scalar_type() == at::kLong && rows.each.dim() == 1 &&
                         rows.each.size(0) == x.size(2) && rows.each.device().is_cpu() && rows.each.is_contiguous()),
                    "rope: positions must be contiguous int64 [", x.size(2), "] on the CPU, got ",
                    rows.each.scalar_type(), " ", rows.each.sizes(), " on ", rows.each.device());
  if (!OnKernels(x)) return ComposeRope(x, rows, theta);
  if (c10::GradMode::is_enabled() && x.requires_grad()) return RopeFunction::apply(x, rows, theta);
  return Run(x, rows, theta, false);
}

}  // namespace tra
