#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/train/replicas/processes.h"

namespace tra {
namespace {

// Returns what each process printed, after all have succeeded.
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
  std::vector<std::string> weights;  // by rank
  std::vector<std::string> parts;    // numbers of parts of each step, by rank
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
      if (name == "parts") in >> trained.parts.emplace_back();
    }
    if (trained.losses.empty()) trained.losses = losses;
    EXPECT_EQ(losses, trained.losses) << "ranks see different losses";
  }
  EXPECT_EQ(trained.losses.size(), 10U);
  for (const std::string& each : trained.weights) EXPECT_EQ(each, trained.weights.at(0));
  return trained;
}

double WorstDifference(const Trained& a, const Trained& b) {
  double worst = 0;
  for (size_t i = 0; i < std::min(a.losses.size(), b.losses.size()); ++i) {
    worst = std::max(worst, std::abs(a.losses[i] - b.losses[i]));
  }
  return worst;
}

// Sums of gradients in another order differ in the last bits of fp32, which AdamW's division by their size makes
// visible in weights whose gradient is nearly 0.
constexpr double kTolerance = 1e-5;  // for losses of about 2; the largest difference seen is 8e-8

class Processes24 : public ::testing::TestWithParam<const char*> {};

TEST_P(Processes24, TrainAsOneProcessWithTheWholeBatch) {
  const Trained one = Train(1, GetParam(), "12", "8388608", "1");
  EXPECT_LT(one.losses.at(9), one.losses.at(0) - 0.05);  // it learns, so the comparison means something
  for (const int size : {2, 4}) {
    const Trained many = Train(size, GetParam(), "12", "8388608", "1");
    EXPECT_LT(WorstDifference(one, many), kTolerance) << size;
    EXPECT_NE(many.parts.at(0), many.parts.at(1)) << "this test is about ranks that differ in parts";
  }
}
INSTANTIATE_TEST_SUITE_P(Attentions, Processes24, ::testing::Values("tra", "rope"));

TEST(Replicas, ABatchSmallerThanTheWorldLeavesARankWithoutWork) {
  const Trained one = Train(1, "tra", "3", "8388608", "1");
  const Trained many = Train(4, "tra", "3", "8388608", "1");
  EXPECT_EQ(many.parts.at(0), "0,0,0,0,0,0,0,0,0,0,");
  EXPECT_LT(WorstDifference(one, many), kTolerance);
}

TEST(Replicas, OverlapChangesNoBit) {
  // Makes several buckets of the model's 100 KB.
  const Trained with = Train(3, "tra", "12", "16384", "1");
  const Trained without = Train(3, "tra", "12", "16384", "0");
  EXPECT_EQ(with.losses, without.losses);
  EXPECT_EQ(with.weights, without.weights);
}

TEST(Replicas, SizesOfBucketsChangeRoundingOnly) {
  const Trained tiny = Train(3, "tra", "12", "1", "1");
  const Trained whole = Train(3, "tra", "12", "1000000000", "1");
  EXPECT_LT(WorstDifference(tiny, whole), kTolerance);
}

TEST(Replicas, GradientsAreSumsWhateverEachProcessHas) {
  for (const auto& [bytes, overlap] : {std::pair("1", "1"), {"100", "0"}, {"1000000", "1"}}) {
    // With 3 ranks the four gradients are: the sum over r of r (10 step + r); 2 arange; nothing; 5 in the second step.
    // The first step's sums stay in each process, so the second adds 3 of them.
    for (const std::string& output : Outputs(3, {"gradients", bytes, overlap})) {
      EXPECT_EQ(output, " 5..5 0..78 none none\n 50..50 0..312 none 5..5\n 65..65 0..78 none none\n");
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
  EXPECT_EQ(Outputs(3, {"first", "6000", "4000", "0"}), (std::vector<std::string>{"worked\n", "waited\n", "waited\n"}));
}

}  // namespace
}  // namespace tra
