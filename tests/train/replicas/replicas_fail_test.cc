#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/train/replicas/processes.h"
#include "tra/train/replicas/replicas.h"

namespace tra {
namespace {

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ReplicasFail, AnErrorOfTheFirstEndsAll) {
  const Processes processes = StartRanks(2, {"first", "0", "10000", "1"});
  for (const auto& each : processes) EXPECT_EQ(each->Wait(), 1);
  EXPECT_TRUE(Contains(processes[0]->Err(), "error: the disk is full")) << processes[0]->Err();
  EXPECT_TRUE(Contains(processes[1]->Err(), "error: rank 0 failed")) << processes[1]->Err();
}

// Expects all but `lost` to end with an error that says what to do.
void ExpectLoss(const Processes& processes, size_t lost) {
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    if (rank == lost) continue;
    EXPECT_EQ(processes[rank]->Wait(), 1) << "not within a minute";
    const std::string error = processes[rank]->Err();
    EXPECT_TRUE(Contains(error, "rank " + std::to_string(rank) + " of " + std::to_string(processes.size()) + " lost"))
        << error;
    EXPECT_TRUE(Contains(error, " s for a sum")) << error;
    EXPECT_TRUE(Contains(error, "start all again with --resume")) << error;
  }
}

TEST(ReplicasFail, AKilledProcessEndsTheOthers) {
  for (const size_t lost : {0, 2}) {
    const Processes processes = StartRanks(3, {"peer", "30000"});
    for (const auto& each : processes) ASSERT_TRUE(each->Speaks()) << each->Err();
    processes[lost]->Signal(SIGKILL);
    ExpectLoss(processes, lost);
  }
}

TEST(ReplicasFail, AProcessThatHangsEndsTheOthersAfterTheTimeout) {
  const Processes processes = StartRanks(3, {"peer", "4000"});
  for (const auto& each : processes) ASSERT_TRUE(each->Speaks()) << each->Err();
  processes[1]->Signal(SIGSTOP);
  ExpectLoss(processes, 1);
}

// Returns the error of a process, which must fail.
std::string ErrorOf(Process& process) {
  EXPECT_EQ(process.Wait(), 1) << process.Out();
  return process.Err();
}

TEST(ReplicasFail, AWorldThatNeverFillsIsAnErrorThatNamesTheMissing) {
  const std::string port = FreePort();
  const auto first = StartRank(0, 4, port, {"meet", "4000"});
  const auto other = StartRank(2, 4, port, {"meet", "4000"});
  const std::string error = ErrorOf(*first);
  EXPECT_TRUE(Contains(error, "rank 0 of 4 waited 4")) << error;
  EXPECT_TRUE(Contains(error, "with RANK 1 3: start all")) << error;
}

TEST(ReplicasFail, APortInUseIsAnErrorEverywhere) {
  const Listener stranger;
  const auto first = StartRank(0, 2, stranger.Port(), {"meet", "1000"});
  const auto second = StartRank(1, 2, stranger.Port(), {"meet", "1000"});
  EXPECT_TRUE(Contains(ErrorOf(*first), "give MASTER_PORT a free port")) << first->Err();
  EXPECT_TRUE(Contains(ErrorOf(*second), "MASTER_PORT")) << second->Err();
}

TEST(ReplicasFail, WithoutAFirstProcessTheOthersSayWhereTheyLooked) {
  const std::string port = FreePort();
  const auto second = StartRank(1, 2, port, {"meet", "1000"});
  EXPECT_TRUE(Contains(ErrorOf(*second), "rank 1 of 2 cannot reach rank 0 at 127.0.0.1:" + port)) << second->Err();
}

TEST(ReplicasFail, TwoProcessesOfOneRankAreRefused) {
  const std::string port = FreePort();
  // The third process never starts, so that the others are still waiting when a second one with RANK=1 starts.
  const auto first = StartRank(0, 3, port, {"meet", "30000"});
  const auto one = StartRank(1, 3, port, {"meet", "30000"});
  const auto other = StartRank(1, 3, port, {"meet", "30000"});
  const auto errors = [&] { return one->Err() + other->Err(); };
  for (int i = 0; i < 3000 && errors().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(Contains(errors(), "two processes have RANK=1")) << errors();
}

TEST(ReplicasFail, ParametersOfOtherShapesAreRefused) {
  const Processes processes = StartRanks(2, {"shapes"});
  EXPECT_TRUE(Contains(ErrorOf(*processes[1]), "parameters of other shapes than rank 0")) << processes[1]->Err();
  EXPECT_EQ(processes[0]->Wait(), 1);
}

TEST(ReplicasFail, ASecondBackwardAfterTheLastIsRefused) {
  for (const auto& each : StartRanks(2, {"twice"})) {
    EXPECT_TRUE(Contains(ErrorOf(*each), "a second backward after BeginLastBackward")) << each->Err();
  }
}

class Environment : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"}) unsetenv(name);
  }

  static std::string Error() {
    try {
      Replicas::FromEnvironment();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Environment, WithoutVariablesThereIsOneProcess) {
  const auto replicas = Replicas::FromEnvironment();
  EXPECT_EQ(replicas->rank(), 0);
  EXPECT_EQ(replicas->size(), 1);
  EXPECT_EQ(replicas->ShareOf(7).count, 7);
  replicas->FinishGradients();
  std::vector<double> values = {0.5};
  replicas->Sum(values);
  EXPECT_EQ(values[0], 0.5);
  bool worked = false;
  replicas->OnFirst([&] { worked = true; });
  EXPECT_TRUE(worked);
}

TEST_F(Environment, AWorldOfOneNeedsNoMaster) {
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "1", 1);
  EXPECT_EQ(Replicas::FromEnvironment()->size(), 1);
}

TEST_F(Environment, AGpuNeedsItsNumber) {
  Replicas::Options options;
  options.device = at::kCUDA;
  EXPECT_THROW(Replicas::FromEnvironment(options), std::invalid_argument);
  options.device = at::Device(at::kCUDA, 0);
  EXPECT_EQ(Replicas::FromEnvironment(options)->device(), options.device);  // a single process sends nothing
}

TEST_F(Environment, ErrorsNameTheVariable) {
  setenv("WORLD_SIZE", "2", 1);
  EXPECT_TRUE(Contains(Error(), "RANK is not set: start the processes with torchrun")) << Error();
  setenv("RANK", "2", 1);
  EXPECT_EQ(Error(), "RANK='2' is not a number from 0 to 1");
  setenv("RANK", "-1", 1);
  EXPECT_EQ(Error(), "RANK='-1' is not a number from 0 to 1");
  setenv("RANK", "1x", 1);
  EXPECT_EQ(Error(), "RANK='1x' is not a number from 0 to 1");
  setenv("RANK", "1", 1);
  setenv("LOCAL_RANK", "2", 1);
  EXPECT_EQ(Error(), "LOCAL_RANK='2' is not a number from 0 to 1");
  setenv("LOCAL_RANK", "1", 1);
  EXPECT_TRUE(Contains(Error(), "MASTER_ADDR is not set")) << Error();
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  EXPECT_TRUE(Contains(Error(), "MASTER_PORT is not set")) << Error();
  setenv("MASTER_PORT", "65536", 1);
  EXPECT_EQ(Error(), "MASTER_PORT='65536' is not a number from 1 to 65535");
  setenv("WORLD_SIZE", "0", 1);
  EXPECT_TRUE(Contains(Error(), "WORLD_SIZE='0' is not a number from 1")) << Error();
  unsetenv("WORLD_SIZE");
  EXPECT_TRUE(Contains(Error(), "WORLD_SIZE is not set")) << Error();
}

}  // namespace
}  // namespace tra
