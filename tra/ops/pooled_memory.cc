#include "tra/ops/pooled_memory.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tra/kernels/memory.h"

namespace tra {
namespace {

constexpr size_t kSmallest = size_t{1} << 16;  // bytes; malloc serves smaller blocks well
constexpr size_t kHugePage = size_t{2} << 20;

// Rounds a size up in steps of an eighth of the power of two below it, so that similar sizes can share blocks.
size_t Rounded(size_t bytes) {
  TORCH_CHECK(bytes <= size_t{1} << 62, "out of memory: ", bytes, " bytes could not be had; use a smaller batch");
  size_t power = kSmallest;
  while (power < bytes) power *= 2;
  return RoundUp(bytes, power / 16 > 4096 ? power / 16 : 4096);
}

struct Block {
  void* data;
  size_t bytes;
};

class Pool {
 public:
  static Pool& Instance() {
    static Pool* pool = new Pool;  // outlives every tensor
    return *pool;
  }

  // Returns a block of at least this many bytes. Batches of sequences differ a little in size from step to step, so a
  // block that is up to a half too large will do.
  Block Take(size_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (auto each = free_.lower_bound(bytes); each != free_.end() && each->first <= bytes + bytes / 2; ++each) {
        if (each->second.empty()) continue;
        const Block found = {each->second.back().block, each->first};
        each->second.pop_back();
        stats_.kept -= found.bytes;
        Count(found.bytes);
        return found;
      }
      // Other sizes than before are needed, so the blocks unused for longest are freed.
      while (stats_.kept > 0 && stats_.in_use + stats_.kept + bytes > peak_ + peak_ / 4) DropOldest();
    }
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
      Trim();  // kept blocks of other sizes may hold the memory
      block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      TORCH_CHECK(block != MAP_FAILED, "out of memory: ", bytes, " bytes could not be had; use a smaller batch");
    }
    if (bytes >= 2 * kHugePage) madvise(block, bytes, MADV_HUGEPAGE);  // a hint: where it fails, pages are small
    const std::lock_guard<std::mutex> lock(mutex_);
    Count(bytes);
    return {block, bytes};
  }

  void Keep(void* block, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_[bytes].push_back({block, ++clock_});
    stats_.in_use -= bytes;
    stats_.kept += bytes;
  }

  void Trim() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [bytes, blocks] : free_) {
      for (const Free& each : blocks) munmap(each.block, bytes);
      stats_.kept -= bytes * blocks.size();
      blocks.clear();
    }
  }

  PooledMemory Stats() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }

 private:
  struct Free {
    void* block;
    uint64_t since;
  };

  void Count(size_t bytes) {
    stats_.in_use += bytes;
    peak_ = std::max(peak_, stats_.in_use);
  }

  void DropOldest() {
    auto oldest = free_.end();
    for (auto each = free_.begin(); each != free_.end(); ++each) {
      if (each->second.empty()) continue;
      if (oldest == free_.end() || each->second.front().since < oldest->second.front().since) oldest = each;
    }
    munmap(oldest->second.front().block, oldest->first);
    stats_.kept -= oldest->first;
    oldest->second.erase(oldest->second.begin());
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<Free>> free_;  // by size, the longest unused first
  PooledMemory stats_;
  size_t peak_ = 0;  // largest stats_.in_use so far
  uint64_t clock_ = 0;
};

void Release(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  Pool::Instance().Keep(block->data, block->bytes);
}

class PooledAllocator : public c10::Allocator {
 public:
  explicit PooledAllocator(c10::Allocator* small) : small_(small) {}

#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(size_t bytes) override { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
#else
  c10::DataPtr allocate(size_t bytes) const override { return Allocate(bytes); }
#endif

 private:
  c10::DataPtr Allocate(size_t bytes) const {
    if (bytes < kSmallest) return small_->allocate(bytes);
    auto block = std::make_unique<Block>(Pool::Instance().Take(Rounded(bytes)));
    void* data = block->data;
    return {data, block.release(), &Release, at::Device(at::DeviceType::CPU)};
  }

  c10::Allocator* small_;
};

}  // namespace

void UsePooledMemory() {
  static PooledAllocator* const allocator = [] {
    auto* pooled = new PooledAllocator(c10::GetCPUAllocator());
    c10::SetCPUAllocator(pooled, /*priority=*/1);
    return pooled;
  }();
  (void)allocator;
}

PooledMemory PooledMemoryStats() { return Pool::Instance().Stats(); }

void TrimPooledMemory() { Pool::Instance().Trim(); }

}  // namespace tra
