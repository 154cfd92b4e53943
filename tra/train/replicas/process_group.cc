#include "tra/train/replicas/process_group.h"

#include <torch/version.h>

#include <cstdlib>
#include <exception>
#include <future>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#if defined(USE_C10D_GLOO) && __has_include(<gloo/algorithm.h>)
#define TRA_HAS_GLOO 1
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#if defined(USE_C10D_NCCL) && __has_include(<nccl.h>)
#define TRA_HAS_NCCL 1
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#if defined(TRA_HAS_GLOO) || defined(TRA_HAS_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#define TRA_HAS_C10D 1
#endif

namespace tra {

#ifdef TRA_HAS_C10D

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string Seconds(Clock::duration duration) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << std::chrono::duration<double>(duration).count() << " s";
  return out.str();
}

std::string Name(int rank, int size) { return "rank " + std::to_string(rank) + " of " + std::to_string(size); }

// Leaves out the stack trace that LibTorch's messages carry.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

// Since LibTorch 2.0, a ProcessGroup is a table of backends.
#if TORCH_VERSION_MAJOR >= 2
using C10dBackend = c10d::Backend;
#else
using C10dBackend = c10d::ProcessGroup;
#endif

class ProcessGroup::Backend {
 public:
  c10::intrusive_ptr<c10d::Store> store;  // must outlive the rest: rank 0 serves it
  c10::intrusive_ptr<C10dBackend> c10d;
};

namespace {

std::string RankKey(int rank) { return "rank" + std::to_string(rank); }

c10::intrusive_ptr<c10d::Store> MakeStore(const Launch& launch, milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = launch.master_port;
  options.isServer = launch.rank == 0 && !launch.agent_store;
  options.waitWorkers = false;  // MeetAll does, and says who is missing
  options.timeout = timeout;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  options.useLibUV = false;  // not in every build
#endif
  const std::string where = launch.master_address + ":" + std::to_string(launch.master_port);
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(launch.master_address, options);
    // The prefix keeps the keys apart from those of earlier attempts, which remain when torchrun restarts the
    // processes.
    return c10::make_intrusive<c10d::PrefixStore>("tra/" + launch.attempt, std::move(store));
  } catch (const std::exception& error) {
    throw std::runtime_error(Name(launch.rank, launch.size) +
                             (options.isServer ? " cannot listen at " + where + ": give MASTER_PORT a free port"
                                               : " cannot reach rank 0 at " + where +
                                                     ": check that it runs, and that MASTER_ADDR and MASTER_PORT are "
                                                     "the same everywhere") +
                             " (" + FirstLine(error.what()) + ")");
  }
}

void MeetAll(c10d::Store& store, const Launch& launch, milliseconds timeout, Clock::time_point start) {
  if (store.add(RankKey(launch.rank), 1) > 1) {
    throw std::runtime_error("two processes have RANK=" + std::to_string(launch.rank) +
                             ", or two runs have the same MASTER_PORT: every process needs its own RANK, every run its "
                             "own MASTER_PORT");
  }
  std::vector<std::string> keys(launch.size);
  for (int rank = 0; rank < launch.size; ++rank) keys[rank] = RankKey(rank);
  while (!store.check(keys)) {
    if (Clock::now() - start > timeout) {
      std::string missing;
      for (int rank = 0; rank < launch.size; ++rank) {
        if (!store.check({RankKey(rank)})) missing += " " + std::to_string(rank);
      }
      throw std::runtime_error(Name(launch.rank, launch.size) + " waited " + Seconds(Clock::now() - start) +
                               " for processes that did not start, with RANK" + missing +
                               ": start all within the timeout, or lower WORLD_SIZE");
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
}

c10::intrusive_ptr<C10dBackend> MakeGloo([[maybe_unused]] const c10::intrusive_ptr<c10d::Store>& store,
                                         [[maybe_unused]] const Launch& launch, [[maybe_unused]] milliseconds timeout) {
#ifdef TRA_HAS_GLOO
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(timeout);
  if (const char* name = std::getenv("GLOO_SOCKET_IFNAME")) {
    options->devices.push_back(Gloo::createDeviceForInterface(name));
  } else if (launch.master_address == "localhost" || launch.master_address.rfind("127.", 0) == 0) {
    // All processes are on this machine, whose name may resolve to an address that it does not have.
    options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
  } else {
    options->devices.push_back(Gloo::createDefaultDevice());
  }
  return c10::make_intrusive<Gloo>(store, launch.rank, launch.size, options);
#else
  throw std::runtime_error("this build has no Gloo, which connects CPUs: install its headers and build again");
#endif
}

#ifdef TRA_HAS_NCCL
c10::intrusive_ptr<C10dBackend> MakeNccl(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
                                         milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  // NCCL's watchdog ends the process without an error, so it must come after our timeout.
  options->timeout = 2 * timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, launch.rank, launch.size, options);
}
#endif

c10::intrusive_ptr<C10dBackend> Make(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
                                     milliseconds timeout, [[maybe_unused]] at::Device sending) {
#ifdef TRA_HAS_NCCL
  if (sending.is_cuda()) return MakeNccl(store, launch, timeout);
#endif
  return MakeGloo(store, launch, timeout);
}

// Returns where tensors must be to be sent: NCCL takes them from the GPU, Gloo from the CPU.
at::Device SendingDevice([[maybe_unused]] at::Device device) {
#ifdef TRA_HAS_NCCL
  if (device.is_cuda()) return device;
#endif
  return at::kCPU;
}

}  // namespace

ProcessGroup::ProcessGroup(const Launch& launch, at::Device device, milliseconds timeout)
    : rank_(launch.rank), size_(launch.size), device_(SendingDevice(device)), timeout_(timeout) {
  // Meets in a separate thread, because the store waits forever if another program listens at its port and does not
  // answer.
  auto meeting = std::make_shared<std::promise<std::shared_ptr<Backend>>>();
  auto met = meeting->get_future();
  std::thread([meeting, launch, sending = device_, timeout] {
    try {
      const auto start = Clock::now();
      auto backend = std::make_shared<Backend>();
      backend->store = MakeStore(launch, timeout);
      MeetAll(*backend->store, launch, timeout, start);
      backend->c10d = Make(backend->store, launch, timeout, sending);
      meeting->set_value(std::move(backend));
    } catch (...) {
      meeting->set_exception(std::current_exception());
    }
  }).detach();
  constexpr milliseconds kGrace(2000);  // lets the meeting fail with its own message first
  if (met.wait_for(timeout + kGrace) != std::future_status::ready) {
    throw std::runtime_error(Name(rank_, size_) + " waited " + Seconds(timeout + kGrace) + " for an answer from " +
                             launch.master_address + ":" + std::to_string(launch.master_port) +
                             ": check that rank 0 listens there, or give MASTER_PORT a free port");
  }
  backend_ = met.get();
}

ProcessGroup::~ProcessGroup() {
  // NCCL's destructor would first wait for the sum that failed. It is never called, since the process ends anyway.
  if (failed_ && device_.is_cuda()) static_cast<void>(backend_->c10d.release());
}

template <typename Start>
std::function<void()> ProcessGroup::Run(const std::string& what, Start start) {
  const auto fail = [this, what](Clock::time_point since, const std::string& why) {
    failed_ = true;
    throw std::runtime_error(Name(rank_, size_) + " lost another process after waiting " +
                             Seconds(Clock::now() - since) + " for " + what + " (" + FirstLine(why) +
                             "): see the errors of the others, then start all again with --resume");
  };
  c10::intrusive_ptr<c10d::Work> work;
  try {
    work = start();
  } catch (const std::exception& error) {
    fail(Clock::now(), error.what());
  }
  return [this, fail, work] {
    const auto since = Clock::now();
    try {
      // Gloo's wait ends by itself; NCCL's would only make the GPU wait.
      while (device_.is_cuda() && !work->isCompleted()) {
        if (Clock::now() - since > timeout_) throw std::runtime_error("no answer");
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      // A sum that failed counts as completed, and its wait does not report it.
      if (const std::exception_ptr error = device_.is_cuda() ? work->exception() : nullptr) {
        std::rethrow_exception(error);
      }
      work->wait();
    } catch (const std::exception& error) {
      fail(since, error.what());
    }
  };
}

std::function<void()> ProcessGroup::Sum(const at::Tensor& tensor, const std::string& what) {
  return Run(what, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    return backend_->c10d->allreduce(tensors, {});
  });
}

void ProcessGroup::Broadcast(const at::Tensor& tensor, const std::string& what) {
  Run(what, [&] {
    std::vector<at::Tensor> tensors = {tensor};
    return backend_->c10d->broadcast(tensors, {});
  })();
}

#else

class ProcessGroup::Backend {};

ProcessGroup::ProcessGroup(const Launch& launch, at::Device device, std::chrono::milliseconds timeout)
    : rank_(launch.rank), size_(launch.size), device_(device), timeout_(timeout) {
  throw std::runtime_error(
      "this LibTorch has no Gloo and no NCCL, or their headers were not found: build with one that "
      "has them, or train with one process (WORLD_SIZE=1)");
}
ProcessGroup::~ProcessGroup() = default;
std::function<void()> ProcessGroup::Sum(const at::Tensor&, const std::string&) { return nullptr; }
void ProcessGroup::Broadcast(const at::Tensor&, const std::string&) {}

#endif  // TRA_HAS_C10D

}  // namespace tra
