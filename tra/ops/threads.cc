#include "tra/ops/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#include <thread>

namespace tra {

int UseThreads(int threads) {
  // By default LibTorch takes one thread where cores have no hyper-threading, however many there are.
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  at::set_num_threads(threads);
  // Debian has a flavour of OpenBLAS that starts threads of its own. Models multiply with oneDNN, but tensor operations
  // of LibTorch, as in float64, take what is installed.
  if (void* set_threads = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(set_threads)(threads);
  }
  return threads;
}

}  // namespace tra
