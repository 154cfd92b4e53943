// Sets the number of threads of everything that computes.
#ifndef TRA_OPS_THREADS_H_
#define TRA_OPS_THREADS_H_

namespace tra {

// Makes LibTorch, oneDNN and an OpenBLAS that LibTorch uses compute with this many threads, or with one per core if it
// is 0. Returns the number. LibTorch and oneDNN share OpenMP's threads.
int UseThreads(int threads);

}  // namespace tra

#endif  // TRA_OPS_THREADS_H_
