// Checks that training on another device gives the same as on the CPU, except for rounding.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/base/other_device.h"
#include "tests/train/replicas/processes.h"
#include "tra/report/results.h"
#include "tra/run/directory.h"

namespace tra {
namespace {

struct Trained {
  std::map<int64_t, double> losses;  // by step
  std::vector<double> results;
};

void Work(int size, const std::string& device, const std::string& folder, const std::string& attention,
          const std::string& stop_after) {
  for (const auto& each : StartRanks(size, {device, folder, attention, stop_after})) {
    ASSERT_EQ(each->Wait(), 0) << each->Err();
  }
}

Trained Read(const std::string& folder) {
  Trained trained;
  std::ifstream metrics(folder + "/metrics.jsonl");
  for (std::string line; std::getline(metrics, line);) {
    const auto row = nlohmann::json::parse(line);
    if (row.contains("train/loss")) trained.losses[row.at("step")] = row.at("train/loss");
  }
  for (const ResultRow& row : ReadResults(folder + "/results.json").rows) trained.results.push_back(row.value);
  return trained;
}

// Trains from the first step to the scores at the end.
Trained Train(int size, const std::string& device, const std::string& attention) {
  const TemporaryDirectory directory;
  Work(size, device, directory / "run", attention, "0");
  return Read(directory / "run");
}

void ExpectSame(const Trained& got, const Trained& want) {
  ASSERT_EQ(want.losses.size(), 4U);
  ASSERT_EQ(got.losses.size(), 4U);
  for (const auto& [step, loss] : want.losses) EXPECT_NEAR(got.losses.at(step), loss, 1e-5 * loss) << step;
  ASSERT_GT(want.results.size(), 0U);
  ASSERT_EQ(got.results.size(), want.results.size());
  for (size_t i = 0; i < want.results.size(); ++i) EXPECT_NEAR(got.results[i], want.results[i], 1e-4) << i;
}

TEST(Device, TrainsAndScoresAsTheCpu) {
  for (const char* attention : {"tra", "label"}) {
    SCOPED_TRACE(attention);
    ExpectSame(Train(1, "other", attention), Train(1, "cpu", attention));
  }
}

// Gloo works only on the CPU, so gradients go there and back.
TEST(Device, ProcessesTrainTogether) { ExpectSame(Train(2, "other", "tra"), Train(1, "cpu", "tra")); }

TEST(Device, ARunGoesOnElsewhere) {
  const Trained want = Train(1, "cpu", "tra");
  const TemporaryDirectory directory;
  const std::string folder = directory / "run";
  Work(1, "other", folder, "tra", "2");
  EXPECT_TRUE(HasCheckpoints(folder));
  EXPECT_FALSE(IsDone(folder));
  EXPECT_EQ(nlohmann::json::parse(ReadBytes(folder + "/env.json")).at("device"), testing::OtherDevice().str());
  Work(1, "cpu", folder, "tra", "0");
  EXPECT_TRUE(IsDone(folder));
  ExpectSame(Read(folder), want);
}

}  // namespace
}  // namespace tra
