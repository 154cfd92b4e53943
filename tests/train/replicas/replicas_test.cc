#include "tra/train/replicas/replicas.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/train/replicas/processes.h"

namespace tra {
namespace {

using Processes = std::vector<std::unique_ptr<Process>>;

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What each process printed, after all have ended well.
std::vector<std::string> Outputs(int size, const std::vector<std::string>& arguments) {
  const Processes processes = StartRanks(size, arguments);
  std::vector<std::string> outputs;
  for (const auto& each : processes) {
    EXPECT_EQ(each->Wait(), 0) << each->Err();
    outputs.push_back(each->Out());
  }
  return outputs;
}

struct Trained {
  std::vector<double> losses;
  std::vector<std::string> weights;           // by rank
  std::vector<int> fewest_parts, most_parts;  // of a step, by rank
};

Trained Train(int size, const std::string& attention, const std::string& batch, const std::string& bucket_bytes,
              const std::string& overlap) {
  Trained trained;
  for (const std::string& output : Outputs(size, {"train", attention, batch, bucket_bytes, overlap})) {
    std::vector<double> losses;
    std::istringstream in(output);
    for (std::string name; in >> name;) {
      if (name == "loss") in >> losses.emplace_back();
      if (name == "weights") in >> trained.weights.emplace_back();
      if (name == "parts") in >> trained.fewest_parts.emplace_back() >> trained.most_parts.emplace_back();
    }
    if (trained.losses.empty()) trained.losses = losses;
    EXPECT_EQ(losses, trained.losses) << "ranks see different losses";
  }
  EXPECT_EQ(trained.losses.size(), 10U);
  for (const std::string& each : trained.weights) EXPECT_EQ(each, trained.weights[0]);
  return trained;
}

double WorstDifference(const Trained& a, const Trained& b) {
  double worst = 0;
  for (size_t i = 0; i < std::min(a.losses.size(), b.losses.size()); ++i) {
    worst = std::max(worst, std::abs(a.losses[i] - b.losses[i]));
  }
  return worst;
}

// Sums of gradients in another order differ in the last bits of fp32, which AdamW's division by their size makes visible
// in weights whose gradient is nearly 0.
constexpr double kTolerance = 1e-4;

class Processes24 : public ::testing::TestWithParam<const char*> {};

TEST_P(Processes24, TrainAsOneProcessWithTheWholeBatch) {
  const Trained one = Train(1, GetParam(), "12", "8388608", "1");
  EXPECT_LT(one.losses.back(), one.losses.front() - 0.05);  // it learns: the comparison is of something
  for (const int size : {2, 4}) {
    const Trained many = Train(size, GetParam(), "12", "8388608", "1");
    EXPECT_LT(WorstDifference(one, many), kTolerance) << size;
    std::printf("%d %g\n", size, WorstDifference(one, many));
    EXPECT_NE(many.most_parts, std::vector<int>(size, many.most_parts[0])) << "ranks should differ in parts here";
  }
}
INSTANTIATE_TEST_SUITE_P(Attentions, Processes24, ::testing::Values("tra", "rope"));

TEST(Replicas, ABatchSmallerThanTheWorldLeavesARankWithoutWork) {
  const Trained one = Train(1, "tra", "3", "8388608", "1");
  const Trained many = Train(4, "tra", "3", "8388608", "1");
  EXPECT_EQ(many.most_parts[0], 0);
  EXPECT_LT(WorstDifference(one, many), kTolerance);
    std::printf("%d %g\n", 4, WorstDifference(one, many));
}

TEST(Replicas, OverlapChangesNoBit) {
  // Several buckets of the model's 100 KB.
  const Trained with = Train(4, "tra", "12", "16384", "1");
  const Trained without = Train(4, "tra", "12", "16384", "0");
  EXPECT_EQ(with.losses, without.losses);
  EXPECT_EQ(with.weights, without.weights);
}

TEST(Replicas, SizesOfBucketsChangeRoundingOnly) {
  const Trained tiny = Train(4, "tra", "12", "1", "1");
  const Trained whole = Train(4, "tra", "12", "1000000000", "1");
  EXPECT_LT(WorstDifference(tiny, whole), kTolerance);
  // A sum of two is the same in either order.
  EXPECT_EQ(Train(2, "tra", "12", "1", "1").weights, Train(2, "tra", "12", "1000000000", "1").weights);
}

TEST(Replicas, GradientsAreSumsWhateverEachProcessHas) {
  for (const std::string bytes : {"1", "100", "1000000"}) {
    for (const std::string overlap : {"0", "1"}) {
      // Of 4 ranks: sum over r of r (10 step + r); 3 arange; nothing; in the second step (1 + 3) 5. The first step's
      // sums stay in each process: the second adds 4 of them.
      for (const std::string& output : Outputs(4, {"gradients", bytes, overlap})) {
        EXPECT_EQ(output, " 14..14 0..117 none none\n 130..130 0..585 none 20..20\n 134..134 0..117 none none\n");
      }
    }
  }
}

TEST(Replicas, SumsAndCopiesAreTheSameEverywhere) {
  const std::vector<std::string> outputs = Outputs(3, {"sums"});
  for (const std::string& output : outputs) {
    EXPECT_EQ(output, outputs[0]);
    double sum = 0, count = 0, integers = 0, across = 0;
    ASSERT_EQ(std::sscanf(output.c_str(), "%la %lf %lf %lf", &sum, &count, &integers, &across), 4) << output;
    EXPECT_NEAR(sum, 0.6, 1e-15);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(integers, 6 * 7);
    EXPECT_EQ(across, 6 * 0.5);
  }
}

TEST(Replicas, OthersWaitForTheFirstBeyondTheTimeout) {
  EXPECT_EQ(Outputs(3, {"first", "3000", "1000", "0"}), (std::vector<std::string>{"worked\n", "waited\n", "waited\n"}));
}

TEST(Replicas, AnErrorOfTheFirstEndsAll) {
  const Processes processes = StartRanks(2, {"first", "0", "10000", "1"});
  for (const auto& each : processes) EXPECT_EQ(each->Wait(), 1);
  EXPECT_TRUE(Contains(processes[0]->Err(), "error: the disk is full")) << processes[0]->Err();
  EXPECT_TRUE(Contains(processes[1]->Err(), "error: rank 0 failed")) << processes[1]->Err();
}

// All but `lost` end with an error that says what to do.
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

TEST(Replicas, AKilledProcessEndsTheOthers) {
  for (const size_t lost : {0, 2}) {
    const Processes processes = StartRanks(3, {"peer", "30000"});
    for (const auto& each : processes) ASSERT_TRUE(each->Speaks()) << each->Err();
    processes[lost]->Signal(SIGKILL);
    ExpectLoss(processes, lost);
  }
}

TEST(Replicas, AProcessThatHangsEndsTheOthersAfterTheTimeout) {
  const Processes processes = StartRanks(3, {"peer", "2000"});
  for (const auto& each : processes) ASSERT_TRUE(each->Speaks()) << each->Err();
  processes[1]->Signal(SIGSTOP);
  ExpectLoss(processes, 1);
}

// What a process that cannot go on says.
std::string ErrorOf(Process& process) {
  EXPECT_EQ(process.Wait(), 1) << process.Out();
  return process.Err();
}

TEST(Replicas, AWorldThatNeverFillsIsAnErrorThatNamesTheMissing) {
  const std::string port = FreePort();
  const auto first = StartRank(0, 4, port, {"meet", "2000"});
  const auto second = StartRank(2, 4, port, {"meet", "2000"});
  const std::string error = ErrorOf(*first);
  EXPECT_TRUE(Contains(error, "rank 0 of 4 waited 2")) << error;
  EXPECT_TRUE(Contains(error, "of RANK 1 3: start all")) << error;
  ErrorOf(*second);
}

TEST(Replicas, APortInUseIsAnErrorEverywhere) {
  const Listener stranger;
  const auto first = StartRank(0, 2, stranger.Port(), {"meet", "1000"});
  const auto second = StartRank(1, 2, stranger.Port(), {"meet", "1000"});
  EXPECT_TRUE(Contains(ErrorOf(*first), "give MASTER_PORT a free port")) << first->Err();
  EXPECT_TRUE(Contains(ErrorOf(*second), "MASTER_PORT")) << second->Err();
}

TEST(Replicas, WithoutAFirstProcessTheOthersSayWhereTheyLooked) {
  const std::string port = FreePort();
  const auto second = StartRank(1, 2, port, {"meet", "1000"});
  EXPECT_TRUE(Contains(ErrorOf(*second), "rank 1 of 2 cannot reach rank 0 at 127.0.0.1:" + port)) << second->Err();
}

TEST(Replicas, TwoProcessesOfOneRankAreRefused) {
  const std::string port = FreePort();
  const auto first = StartRank(0, 3, port, {"meet", "3000"});
  const auto one = StartRank(1, 3, port, {"meet", "3000"});
  const auto other = StartRank(1, 3, port, {"meet", "3000"});
  EXPECT_TRUE(Contains(ErrorOf(*one) + ErrorOf(*other), "two processes have RANK=1"));
  ErrorOf(*first);
}

TEST(Replicas, ParametersOfOtherShapesAreRefused) {
  const Processes processes = StartRanks(2, {"shapes"});
  EXPECT_TRUE(Contains(ErrorOf(*processes[1]), "parameters of other shapes than rank 0")) << processes[1]->Err();
  EXPECT_EQ(processes[0]->Wait(), 1);
}

TEST(Replicas, ASecondBackwardAfterTheLastIsRefused) {
  for (const auto& each : StartRanks(2, {"twice"})) {
    EXPECT_TRUE(Contains(ErrorOf(*each), "a second backward after BeginLastBackward")) << each->Err();
  }
}

class Environment : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
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
