#include "tra/train/replicas/buckets.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <stdexcept>
#include <utility>

namespace tra {
namespace {

constexpr int64_t kAlignment = 64;  // bytes; every gradient begins at a multiple, as suits the kernels

}  // namespace

// Calls functions after a parameter's gradient has been written. LibTorch 1.13 has no such hook on tensors, so the
// hooks sit on the nodes that write gradients. A parameter refers to its node only weakly, hence the nodes are kept
// here.
class GradientBuckets::Hooks {
 public:
  ~Hooks() {
    for (auto& [node, key] : hooks_) node->del_post_hook(key);
  }

  void Add(const at::Tensor& parameter, std::function<void()> call) {
    using List = torch::autograd::variable_list;
    auto node = torch::autograd::impl::grad_accumulator(parameter);
    auto hook = std::make_unique<torch::autograd::utils::LambdaPostHook>(
        [call = std::move(call)](const List& outputs, const List& /*inputs*/) {
          call();
          return outputs;
        });
    const uintptr_t key = node->add_post_hook(std::move(hook));
    hooks_.emplace_back(std::move(node), key);
  }

 private:
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, uintptr_t>> hooks_;
};

GradientBuckets::GradientBuckets(const std::vector<at::Tensor>& parameters, int64_t bucket_bytes, ProcessGroup& group)
    : group_(group), hooks_(std::make_unique<Hooks>()) {
  std::vector<Slot> slots;
  int64_t bytes = 0;
  // Goes from the last parameter to the first, because a backward computes the gradients of the last layers first.
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    if (it->device() != parameters.front().device() || it->scalar_type() != parameters.front().scalar_type()) {
      throw std::invalid_argument("parameters must be of one dtype and on one device: got " + it->toString() + " on " +
                                  it->device().str());
    }
    if (!it->requires_grad()) continue;
    slots.push_back({*it, {}, false});
    bytes += static_cast<int64_t>(it->nbytes());
    if (bytes >= bucket_bytes) {
      Add(std::exchange(slots, {}));
      bytes = 0;
    }
  }
  if (!slots.empty()) Add(std::move(slots));
}

GradientBuckets::~GradientBuckets() = default;

void GradientBuckets::Add(std::vector<Slot> slots) {
  buckets_.push_back(std::make_unique<Bucket>());
  Bucket& bucket = *buckets_.back();
  bucket.slots = std::move(slots);
  const at::TensorOptions options =
      bucket.slots.front().parameter.options().requires_grad(false).device(group_.device());
  const int64_t align = kAlignment / static_cast<int64_t>(options.dtype().itemsize());
  const auto aligned = [align](int64_t size) { return (size + align - 1) / align * align; };
  int64_t size = 0;
  for (const Slot& slot : bucket.slots) size += aligned(slot.parameter.numel());
  const auto count = static_cast<int64_t>(bucket.slots.size());
  bucket.buffer = at::zeros({size + count}, options);
  bucket.counts = bucket.buffer.narrow(0, size, count);
  int64_t offset = 0;
  for (Slot& slot : bucket.slots) {
    slot.view = bucket.buffer.narrow(0, offset, slot.parameter.numel()).view(slot.parameter.sizes());
    offset += aligned(slot.parameter.numel());
    hooks_->Add(slot.parameter, [this, &bucket, &slot] { OnGradient(bucket, slot); });
  }
}

void GradientBuckets::BeginLastBackward() {
  if (last_backward_) throw std::logic_error("BeginLastBackward was called twice without FinishGradients between");
  last_backward_ = true;
  for (auto& bucket : buckets_) {
    bucket->missing = bucket->slots.size();
    for (Slot& slot : bucket->slots) slot.ready = false;
  }
}

// Called by the backward, one gradient at a time.
void GradientBuckets::OnGradient(Bucket& bucket, Slot& slot) {
  if (!last_backward_) return;
  if (std::exchange(slot.ready, true)) {
    throw std::logic_error("a second backward after BeginLastBackward: call that before the last one only");
  }
  --bucket.missing;
  while (launched_ < buckets_.size() && buckets_[launched_]->missing == 0) Launch(*buckets_[launched_++]);
}

void GradientBuckets::Finish() {
  while (launched_ < buckets_.size()) Launch(*buckets_[launched_++]);
  for (auto& bucket : buckets_) Settle(*bucket);
  launched_ = 0;
  last_backward_ = false;
}

void GradientBuckets::Launch(Bucket& bucket) {
  const c10::NoGradGuard no_grad;
  std::vector<float> counts;
  for (const Slot& slot : bucket.slots) {
    const at::Tensor& grad = slot.parameter.grad();
    counts.push_back(grad.defined() ? 1.0F : 0.0F);
    if (!grad.defined()) {
      slot.view.zero_();
    } else if (grad.device() != slot.view.device() || grad.data_ptr() != slot.view.data_ptr()) {
      slot.view.copy_(grad.to(slot.view.device()));
    }
  }
  constexpr bool kNonBlocking = true;  // so that the backward goes on
  bucket.counts.copy_(at::tensor(counts), kNonBlocking);
  bucket.wait = group_.Sum(bucket.buffer, "the sum of gradients");
}

void GradientBuckets::Settle(Bucket& bucket) {
  std::exchange(bucket.wait, nullptr)();
  const at::Tensor counts = bucket.counts.to(at::kCPU, at::kFloat);
  for (size_t i = 0; i < bucket.slots.size(); ++i) {
    const Slot& slot = bucket.slots[i];
    if (counts.data_ptr<float>()[i] > 0) slot.parameter.mutable_grad() = slot.view.to(slot.parameter.device());
  }
}

}  // namespace tra
