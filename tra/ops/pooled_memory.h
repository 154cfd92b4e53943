// Keeps the memory of large tensors for the next ones.
//
// malloc gives blocks beyond 32 MiB back to the system at once, and the top of its heap when enough is free: the pages
// of the next tensor are faulted in and zeroed again. A training step asks for the same or similar sizes over and over,
// so keeping the blocks saves most of what its passes over memory would cost otherwise.
#ifndef TRA_OPS_POOLED_MEMORY_H_
#define TRA_OPS_POOLED_MEMORY_H_

#include <cstddef>

namespace tra {

// Makes all later CPU tensors of 64 KiB or more come from a pool. For programs, not for libraries: it replaces
// LibTorch's allocator in the whole process. Calling it again changes nothing.
void UsePooledMemory();

struct PooledMemory {
  size_t in_use = 0;  // bytes of live tensors, rounded up as the pool does
  size_t kept = 0;    // bytes waiting to be used again
};
PooledMemory PooledMemoryStats();

// Returns the kept memory to the system.
void TrimPooledMemory();

}  // namespace tra

#endif  // TRA_OPS_POOLED_MEMORY_H_
