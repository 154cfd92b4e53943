#include "tra/train/replicas/replicas.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tra/base/launch.h"
#include "tra/train/replicas/buckets.h"
#include "tra/train/replicas/process_group.h"

namespace tra {
namespace {

// What rank 0 tells the processes that wait for its work: a sum, to which they add 0.
constexpr int64_t kBusy = 0, kDone = 1, kFailed = 2;

std::string Shapes(const std::vector<at::Tensor>& tensors) {
  std::ostringstream text;
  for (const at::Tensor& each : tensors) text << each.scalar_type() << each.sizes() << "\n";
  return text.str();
}

}  // namespace

std::unique_ptr<Replicas> Replicas::FromEnvironment(const Options& options) {
  if (options.device.is_cuda() && !options.device.has_index()) {
    throw std::invalid_argument("Replicas needs to know which GPU: name it, as in cuda:0");
  }
  const Launch launch = ReadLaunch();
  auto group = launch.size == 1 ? nullptr : std::make_unique<ProcessGroup>(launch, options.device, options.timeout);
  auto replicas = std::unique_ptr<Replicas>(new Replicas(std::move(group), options));
  replicas->Barrier();  // rank 0 must not end before the others have found each other through it
  return replicas;
}

Replicas::Replicas(std::unique_ptr<ProcessGroup> group, const Options& options)
    : options_(options), group_(std::move(group)) {}

Replicas::~Replicas() = default;

int Replicas::rank() const { return group_ ? group_->rank() : 0; }
int Replicas::size() const { return group_ ? group_->size() : 1; }

Replicas::Share Replicas::ShareOf(int64_t count) const {
  const int64_t first = count * rank() / size();
  return {first, count * (rank() + 1) / size() - first};
}

void Replicas::RequireSame(const std::string& text, const char* what) {
  if (!group_) return;
  // Compares a hash (FNV) rather than the text itself, whose length could differ.
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  const at::Tensor mine = at::full({1}, static_cast<int64_t>(hash), at::kLong).to(group_->device());
  const at::Tensor first = mine.clone();
  Broadcast({first});
  if (mine.equal(first)) return;
  throw std::runtime_error("rank " + std::to_string(rank()) + " has " + what +
                           " than rank 0: start all processes with the same configuration");
}

void Replicas::Watch(const std::vector<at::Tensor>& parameters) {
  if (!group_) return;
  RequireSame(Shapes(parameters), "parameters of other shapes");
  Broadcast(parameters);
  buckets_ = std::make_unique<GradientBuckets>(parameters, options_.bucket_bytes, *group_);
}

void Replicas::BeginLastBackward() {
  if (buckets_) buckets_->BeginLastBackward();
}

void Replicas::FinishGradients() {
  if (!group_) return;
  if (!buckets_) throw std::logic_error("FinishGradients needs parameters: call Watch first");
  buckets_->Finish();
}

void Replicas::SumTensor(const at::Tensor& values, const char* what) {
  // If other processes have yet to launch buckets, they would take this sum for one of them.
  if (buckets_ && buckets_->InLastBackward())
    throw std::logic_error("call FinishGradients after BeginLastBackward first");
  group_->Sum(values, what)();
}

void Replicas::Sum(std::vector<double>& values) {
  if (!group_) return;
  const at::Tensor sums = at::tensor(values, at::kDouble).to(group_->device());
  SumTensor(sums, "a sum");
  const at::Tensor result = sums.cpu();
  std::copy_n(result.data_ptr<double>(), values.size(), values.begin());
}

void Replicas::Broadcast(const std::vector<at::Tensor>& tensors) {
  if (!group_) return;
  const c10::NoGradGuard no_grad;
  for (const at::Tensor& each : tensors) {
    const at::Tensor sent = each.detach().to(group_->device()).contiguous();
    group_->Broadcast(sent, "rank 0's values");
    if (!sent.is_alias_of(each)) each.copy_(sent);
  }
}

void Replicas::Barrier() {
  std::vector<double> nothing = {0};
  Sum(nothing);
}

void Replicas::OnFirst(const std::function<void()>& work) {
  if (!group_) return work();
  const auto say = [this](int64_t state) {
    const at::Tensor sum = at::full({1}, state, at::TensorOptions(group_->device()).dtype(at::kLong));
    SumTensor(sum, "rank 0's work");
    return sum.item<int64_t>();
  };
  if (rank() != 0) {
    int64_t state = kBusy;
    while (state == kBusy) state = say(0);
    if (state == kFailed) throw std::runtime_error("rank 0 failed: see its error");
    return;
  }

  std::mutex mutex;
  std::condition_variable changed;
  int64_t state = kBusy;
  std::exception_ptr lost;
  // The work stays on this thread, to which LibTorch's threads belong.
  std::thread teller([&] {
    const auto pause = std::min<std::chrono::milliseconds>(options_.timeout / 4, std::chrono::seconds(1));
    try {
      for (int64_t told = kBusy; told == kBusy; say(told)) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait_for(lock, pause, [&] { return state != kBusy; });
        told = state;
      }
    } catch (...) {
      lost = std::current_exception();
    }
  });
  const auto end = [&](int64_t how) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      state = how;
    }
    changed.notify_one();
    teller.join();
  };
  try {
    work();
  } catch (...) {
    end(kFailed);
    throw;
  }
  end(kDone);
  if (lost) std::rethrow_exception(lost);
}

}  // namespace tra
