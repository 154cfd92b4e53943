#include "tra/ops/pooled_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

namespace tra {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

at::Tensor Floats(int64_t n) { return at::empty({n}, at::kFloat); }

class PooledMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    UsePooledMemory();
    UsePooledMemory();  // a second call changes nothing
    TrimPooledMemory();
  }
};

TEST_F(PooledMemoryTest, LargeTensorsAreUsedAgain) {
  at::Tensor x = Floats(int64_t{1} << 21);
  const void* at = x.data_ptr();
  EXPECT_GE(PooledMemoryStats().in_use, 8 * kMiB);
  x = at::Tensor();
  EXPECT_EQ(PooledMemoryStats().in_use, 0u);
  EXPECT_GE(PooledMemoryStats().kept, 8 * kMiB);
  x = Floats((int64_t{1} << 21) - 1000);  // nearly as large: the same block
  EXPECT_EQ(x.data_ptr(), at);
  EXPECT_EQ(PooledMemoryStats().kept, 0u);
}

TEST_F(PooledMemoryTest, SmallTensorsAreLeftToMalloc) {
  const at::Tensor x = Floats(16383);
  EXPECT_EQ(PooledMemoryStats().in_use, 0u);
  const at::Tensor y = Floats(16384);
  EXPECT_EQ(PooledMemoryStats().in_use, size_t{1} << 16);
}

TEST_F(PooledMemoryTest, NoBlockIsHandedOutTwice) {
  at::Tensor a = Floats(1 << 20), b = Floats(1 << 20);
  EXPECT_NE(a.data_ptr(), b.data_ptr());
  a.fill_(1);
  b.fill_(2);
  EXPECT_EQ(a.min().item<float>(), 1);
  a = at::Tensor();
  const at::Tensor c = Floats(1 << 20);
  c.fill_(3);
  EXPECT_EQ(b.max().item<float>(), 2);
}

TEST_F(PooledMemoryTest, TrimGivesBackWhatIsNotInUse) {
  const at::Tensor live = Floats(1 << 20);
  Floats(1 << 22);
  EXPECT_GT(PooledMemoryStats().kept, 0u);
  TrimPooledMemory();
  EXPECT_EQ(PooledMemoryStats().kept, 0u);
  live.fill_(1);  // its memory is still there
}

TEST_F(PooledMemoryTest, SizesThatAreNoLongerWantedGo) {
  { const at::Tensor most = Floats(1 << 24); }  // the peak: 64 MiB
  for (int64_t n = 1 << 20; n < 1 << 24; n += 1 << 19) Floats(n);
  EXPECT_LE(PooledMemoryStats().kept, 80 * kMiB);
}

// The tokens of a step are now more, now fewer.
TEST_F(PooledMemoryTest, SimilarSizesShareABlock) {
  TrimPooledMemory();
  const void* large = nullptr;
  {
    const at::Tensor x = Floats(1 << 20);
    large = x.data_ptr();
  }
  for (const int64_t n : {900'000, 1 << 20, 720'000}) EXPECT_EQ(Floats(n).data_ptr(), large) << n;
  EXPECT_NE(Floats(1 << 18).data_ptr(), large);  // a quarter: it would waste the rest
  EXPECT_EQ(PooledMemoryStats().in_use, 0u);
}

TEST_F(PooledMemoryTest, ThreadsMayShareIt) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const at::Tensor x = Floats(1 << 18).fill_(t);
        ASSERT_EQ(x.sum().item<float>(), static_cast<float>(t) * (1 << 18));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(PooledMemoryStats().in_use, 0u);
}

TEST_F(PooledMemoryTest, AnImpossibleSizeIsAnErrorWithARemedy) {
  try {
    Floats(int64_t{1} << 55);
    FAIL() << "allocated";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("use a smaller batch"), std::string::npos) << error.what();
    EXPECT_EQ(PooledMemoryStats().in_use, 0u);
  }
}

}  // namespace
}  // namespace tra
