#include "tra/ops/product.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <oneapi/dnnl/dnnl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "tra/ops/held_signals.h"
#include "tra/ops/layout.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// A matrix as BLAS takes it: rows one after the other, `stride` elements apart, or the transpose of such a matrix.
struct Operand {
  char transposed;  // 'N' or 'T'
  dnnl_dim_t stride;
  const float* data;
  at::Tensor copy;  // keeps a copy alive
};

Operand OperandOf(const at::Tensor& x) {
  const int64_t rows = x.size(0), columns = x.size(1);
  // The stride of a dimension of size 1 says nothing.
  if ((x.stride(1) == 1 || columns == 1) && (x.stride(0) >= columns || rows == 1)) {
    return {'N', std::max(columns, x.stride(0)), x.data_ptr<float>(), {}};
  }
  if ((x.stride(0) == 1 || rows == 1) && (x.stride(1) >= rows || columns == 1)) {
    return {'T', std::max(rows, x.stride(1)), x.data_ptr<float>(), {}};
  }
  const at::Tensor copy = x.contiguous();
  return {'N', std::max<int64_t>(1, columns), copy.data_ptr<float>(), copy};
}

constexpr int64_t kCachedElements = int64_t{1} << 17;  // half a MiB: stays in a second-level cache
constexpr int64_t kFewestRows = 128;                   // enough for a product at full speed

// y = x w^T + b, so: dx = dy w, dw = dy^T x, db = the sum of dy.
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight, const Variable& bias) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.numel() > 0;
    return LinearForward(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const at::Tensor d_y = grads[0].reshape({-1, weight.size(0)});
    variable_list out(3);
    if (context->needs_input_grad(0)) out[0] = Product(d_y, weight).view(x.sizes());
    if (context->needs_input_grad(1)) out[1] = Product(d_y.t(), rows);
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) out[2] = d_y.sum(0);
    return out;
  }

  // Where a second derivative may be asked for, autograd has to see the product.
  static at::Tensor Product(const at::Tensor& a, const at::Tensor& b) {
    if (c10::GradMode::is_enabled()) return at::mm(a, b);
    at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
    Multiply(out, a, b);
    return out;
  }

  static at::Tensor LinearForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    const at::Tensor out = at::empty({rows.size(0), weight.size(0)}, x.options());
    if (bias.defined() && bias.numel() > 0) {
      // The product is added to rows that hold the bias, a few at a time so that they are still in the cache then.
      const int64_t few = std::max<int64_t>(kFewestRows, kCachedElements / std::max<int64_t>(1, out.size(1)));
      const int64_t parts = (out.size(0) + few - 1) / few;
      for (int64_t i = 0; i < parts; ++i) {
        const int64_t first = i * out.size(0) / parts, n = (i + 1) * out.size(0) / parts - first;
        const at::Tensor part = out.narrow(0, first, n);
        part.copy_(bias.expand_as(part));
        Multiply(part, rows.narrow(0, first, n), weight.t(), Into::kAdd);
      }
    } else {
      Multiply(out, rows, weight.t());
    }
    return out.view(sizes);
  }
};

}  // namespace

void Multiply(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Into into) {
  TORCH_INTERNAL_ASSERT(out.dim() == 2 && a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0) &&
                        out.size(0) == a.size(0) && out.size(1) == b.size(1));
  TORCH_INTERNAL_ASSERT(out.stride(1) == 1 || out.size(1) <= 1);
  const int64_t rows = out.size(0), columns = out.size(1), depth = a.size(1);
  if (rows == 0 || columns == 0) return;
  if (depth == 0) {
    if (into == Into::kSet) out.zero_();
    return;
  }
  const Operand left = OperandOf(a), right = OperandOf(b);
  const HeldSignals signals;
  const dnnl_status_t status = dnnl_sgemm(left.transposed, right.transposed, rows, columns, depth, 1.0f, left.data,
                                          left.stride, right.data, right.stride, into == Into::kAdd ? 1.0f : 0.0f,
                                          out.data_ptr<float>(), std::max(columns, out.stride(0)));
  TORCH_CHECK(status == dnnl_success, "product: oneDNN failed with status ", static_cast<int>(status), " for [", rows,
              ", ", depth, "] x [", depth, ", ", columns, "]");
}

std::string ProductLibrary() {
  const dnnl_version_t& version = *dnnl_version();
  return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

at::Tensor ApplyLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!OnKernels(x)) return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
  TORCH_CHECK_VALUE(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1), "linear: x must be [..., ",
                    weight.size(-1), "] for weight ", weight.sizes(), ", got ", x.sizes());
  TORCH_CHECK_VALUE(weight.scalar_type() == x.scalar_type(), "linear: x and weight must have one dtype, got ",
                    x.scalar_type(), " and ", weight.scalar_type());
  TORCH_CHECK_VALUE(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)), "linear: bias must be [",
                    weight.size(0), "]");
  // LibTorch 1.13 cannot record an undefined input.
  return LinearFunction::apply(x, weight, bias.defined() ? bias : at::empty({0}, x.options()));
}

}  // namespace tra
