// Compares what is found out about a run's heads with the same numbers taken from whole matrices in another way.
#include "tra/inspect/analysis.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/base/files.h"
#include "tra/inspect/head_rows.h"
#include "tra/inspect/running_mean.h"
#include "tra/run/config.h"
#include "tra/run/files.h"
#include "tra/tasks/task.h"
#include "tra/train/train_run.h"

namespace tra {
namespace {

// Trains a model for a moment and returns its folder.
std::string Train(const TemporaryDirectory& directory, const std::string& attention, const std::string& data,
                  const std::string& train = "") {
  const std::string file = directory / (attention + ".toml");
  std::ofstream(file) << "[model]\nlayers = 2\nheads = 2\nwidth = 16\nattention = \"" << attention << "\"\n[data]\n"
                      << data << "\n[train]\nbatch = 2\n"
                      << (train.empty() ? "steps = 4\ncheckpoint_every = 2\nkeep = 5\n" : train)
                      << "[eval]\nexamples = 2\n";
  RunPlace place;
  place.path = directory / attention;
  TrainRun(ReadConfig(file, {}), place, {});
  return place.path;
}

constexpr char kFlipflop[] = "task = \"flipflop\"\nlengths = [40, 40]";

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

AnalyzeOptions Few(std::vector<int64_t> factors = {1, 3}) {
  AnalyzeOptions options;
  options.split = "dense";
  options.examples = 2;
  options.factors = std::move(factors);
  return options;
}

Inspection Read(const InspectedRun& run, const Example& example) {
  return run.Inspect({example.tokens.begin(), example.tokens.end() - 1});
}

constexpr double kTolerance = 1e-6;  // float matrices, summed in another order

TEST(Analysis, OfHeadsIsThatOfTheWholeMatrices) {
  const TemporaryDirectory directory;
  InspectedRun run(Train(directory, "tra", kFlipflop), at::kCPU, nullptr);
  const Analysis analysis = AnalyzeRun(run, Few({}));
  ASSERT_EQ(analysis.heads.size(), 4u);
  EXPECT_EQ(analysis.step, 4);
  EXPECT_EQ(analysis.examples, 2);
  for (const HeadAnalysis& head : analysis.heads) {
    double kept = 0, causal = 0, empty = 0, skipped = 0, rows = 0, counts = 0, tokens = 0, with_keys = 0;
    std::vector<at::Tensor> gates;
    for (uint64_t index = 0; index < 2; ++index) {
      const Inspection inspection = Read(run, run.At("dense", index));
      const HeadId id = {head.name.layer, head.name.head, head.name.attention};
      const AttentionMatrix all = inspection.Matrix(id);
      const auto length = static_cast<int64_t>(inspection.tokens.size());
      const at::Tensor is_kept = all.state.ge(static_cast<int>(KeyState::kKept)).to(at::kDouble);  // kept, skipped
      const at::Tensor weight = all.weight.to(at::kDouble), sums = weight.sum(-1);
      const at::Tensor filled = is_kept.sum(-1).gt(0);
      kept += is_kept.sum().item<double>();
      causal += static_cast<double>(length * (length + 1)) / 2;
      empty += filled.logical_not().sum().item<double>();
      rows += static_cast<double>(length);
      skipped += all.stopped_at.sum().item<double>();
      const at::Tensor positions = at::arange(length, at::kDouble);
      const at::Tensor apart = positions.unsqueeze(1) - positions.unsqueeze(0);
      counts += ((weight * all.position).sum(-1) / sums).masked_select(filled).sum().item<double>();
      tokens += ((weight * apart).sum(-1) / sums).masked_select(filled).sum().item<double>();
      with_keys += filled.sum().item<double>();
      gates.push_back(inspection.Attention(id).inputs.rule_input[0][id.head].to(at::kDouble));
    }
    const at::Tensor log_gate = at::cat(gates);
    EXPECT_NEAR(*head.density, kept / causal, kTolerance);
    EXPECT_GT(*head.density, 0);
    EXPECT_LT(*head.density, 1);
    EXPECT_NEAR(*head.empty_rows, empty / rows, kTolerance);
    EXPECT_NEAR(*head.skipped, skipped / causal, kTolerance);
    EXPECT_NEAR(*head.kept_distance, counts / with_keys, 1e-4);
    EXPECT_NEAR(*head.token_distance, tokens / with_keys, 1e-4);
    EXPECT_NEAR(*head.gate, log_gate.exp().mean().item<double>(), kTolerance);
    EXPECT_NEAR(*head.gate_deviation, log_gate.exp().std().item<double>(), kTolerance);
    EXPECT_NEAR(*head.log_gate, log_gate.mean().item<double>(), kTolerance);
    EXPECT_NEAR(*head.log_gate_deviation, log_gate.std().item<double>(), kTolerance);
  }
}

// Takes the share of kept evidence from whole matrices: the bit after the last w, and that w.
TEST(Analysis, OfEvidenceIsThatOfTheStatesOfTheKeys) {
  const TemporaryDirectory directory;
  InspectedRun run(Train(directory, "tra", kFlipflop), at::kCPU, nullptr);
  const Analysis analysis = AnalyzeRun(run, Few({}));
  std::vector<int64_t> steps;
  for (const EvidenceAnalysis& each : analysis.evidence) steps.push_back(each.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 2, 4}));
  const EvidenceAnalysis& last = analysis.evidence.back();
  for (size_t i = 0; i < analysis.heads.size(); ++i) {
    const HeadName& name = analysis.heads[i].name;
    double kept = 0, weight = 0, links_kept = 0, pairs = 0, right = 0;
    for (uint64_t index = 0; index < 2; ++index) {
      const Example example = run.At("dense", index);
      const Inspection inspection = Read(run, example);
      const AttentionMatrix all = inspection.Matrix({name.layer, name.head});
      int64_t w = 0;
      for (int64_t at = 0; at + 1 < static_cast<int64_t>(example.tokens.size()); ++at) {
        const int32_t token = example.tokens[static_cast<size_t>(at)];
        if (token == 1) w = at;  // the ids of w and r
        if (token != 2) continue;
        ++pairs;
        kept += all.state[at][w + 1].item<int>() >= static_cast<int>(KeyState::kKept) ? 1 : 0;
        links_kept += all.state[w + 1][w].item<int>() >= static_cast<int>(KeyState::kKept) ? 1 : 0;
        weight += all.weight[at][w + 1].item<double>();
        const auto answer = static_cast<size_t>(at) + 1;
        right += inspection.predictions[answer - 1].token == example.tokens[answer] ? 1 : 0;
      }
    }
    EXPECT_EQ(static_cast<double>(last.answers), pairs);
    EXPECT_NEAR(last.right, right / pairs, kTolerance);
    EXPECT_NEAR(*last.heads[i].evidence.kept, kept / pairs, kTolerance);
    EXPECT_NEAR(*last.heads[i].evidence.weight, weight / pairs, kTolerance);
    EXPECT_NEAR(*last.heads[i].links.kept, links_kept / pairs, kTolerance);
  }
}

TEST(Analysis, OnceAsLongIsTheExampleItself) {
  const TemporaryDirectory directory;
  InspectedRun run(Train(directory, "tra", kFlipflop), at::kCPU, nullptr);
  const Analysis analysis = AnalyzeRun(run, Few({1, 3}));
  ASSERT_EQ(analysis.stretched.size(), 2u);
  const StretchAnalysis& once = analysis.stretched[0];
  EXPECT_EQ(once.same, 1);
  EXPECT_EQ(once.right, analysis.evidence.back().right);
  EXPECT_EQ(once.answers, analysis.evidence.back().answers);
  for (size_t i = 0; i < once.heads.size(); ++i) {
    EXPECT_EQ(once.heads[i].same_kept, 1);
    EXPECT_EQ(once.heads[i].overlap, 1);
    EXPECT_FALSE(once.heads[i].inserted_kept);  // nothing was inserted
    EXPECT_EQ(once.heads[i].count_change.value_or(0), 0);
    EXPECT_EQ(once.heads[i].evidence.kept, analysis.evidence.back().heads[i].evidence.kept);
  }
  const StretchAnalysis& thrice = analysis.stretched[1];
  EXPECT_EQ(thrice.examples, 2);
  EXPECT_EQ(thrice.answers, once.answers);
  EXPECT_EQ(thrice.tokens, 3 * once.tokens);
  // The first layer sees tokens without positions, so what it keeps of the original ones cannot change.
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(thrice.heads[i].same_kept, 1);
    EXPECT_GT(*thrice.heads[i].inserted_kept, 0);
    EXPECT_LT(*thrice.heads[i].inserted_kept, 1);
    EXPECT_GT(*thrice.heads[i].count_change, 0);
  }
}

TEST(Analysis, LeavesOutWhatARuleDoesNotHave) {
  const TemporaryDirectory directory;
  for (const char* attention : {"rope", "fot", "diff"}) {
    SCOPED_TRACE(attention);
    InspectedRun run(Train(directory, attention, kFlipflop), at::kCPU, nullptr);
    const Analysis analysis = AnalyzeRun(run, Few());
    const bool gates = std::string(attention) == "fot";
    ASSERT_EQ(analysis.heads.size(), std::string(attention) == "diff" ? 8u : 4u);
    for (const HeadAnalysis& head : analysis.heads) {
      EXPECT_FALSE(head.density || head.empty_rows || head.kept_distance);
      EXPECT_EQ(head.gate.has_value(), gates);
      EXPECT_EQ(head.skipped.has_value(), gates);
      EXPECT_GT(*head.token_distance, 0);
    }
    for (const HeadEvidence& head : analysis.evidence.back().heads) {
      EXPECT_FALSE(head.evidence.kept || head.links.kept);
      EXPECT_GT(*head.evidence.weight, 0);
    }
    EXPECT_FALSE(analysis.stretched[1].heads[0].same_kept);
    EXPECT_EQ(analysis.stretched[0].same, 1);
    EXPECT_EQ(SparsityAndGate({analysis}).n, 0);
  }
}

TEST(Analysis, LeavesOutLengthsThatAModelOrATaskDoesNotHave) {
  const TemporaryDirectory directory;
  InspectedRun ape(Train(directory, "ape", kFlipflop), at::kCPU, nullptr);
  AnalyzeOptions options = Few({1, 2, 16});
  options.split = "iid";
  const Analysis analysis = AnalyzeRun(ape, options);
  EXPECT_EQ(analysis.stretched[0].examples, 2);
  EXPECT_EQ(analysis.stretched[2].examples, 0);
  ASSERT_FALSE(analysis.notes.empty());
  EXPECT_NE(analysis.notes.back().find("2 of 2 examples were not made 16 times as long: the model has positions for"),
            std::string::npos)
      << analysis.notes.back();

  InspectedRun copy(Train(directory, "tra", "task = \"copy\"\nlengths = [1, 9]"), at::kCPU, nullptr);
  options.split = "51-100";
  const Analysis of_copy = AnalyzeRun(copy, options);
  EXPECT_TRUE(of_copy.stretched.empty());
  EXPECT_NE(of_copy.notes.back().find("every symbol of copy is relevant"), std::string::npos);
  EXPECT_GT(of_copy.evidence.back().answers, 100);
}

TEST(Analysis, OfATextHasHeadsButNoEvidence) {
  const TemporaryDirectory directory;
  std::string line;
  for (int i = 0; i < 40; ++i) line += "the cat sat on the mat . ";
  for (const char* name : {"train.txt", "valid.txt", "test.txt"}) std::ofstream(directory / name) << line << "\n";
  const std::string data =
      "task = \"text\"\nwindow = 16\ncorpus = \"" + (directory / "") + "\"\ncache = \"" + (directory / "cache") + "\"";
  InspectedRun run(Train(directory, "tra", data), at::kCPU, nullptr);
  AnalyzeOptions options;
  options.examples = 1000;
  const Analysis analysis = AnalyzeRun(run, options);
  EXPECT_EQ(analysis.split, "test");
  EXPECT_EQ(analysis.examples, 1001 / 16);
  EXPECT_EQ(analysis.heads.size(), 4u);
  EXPECT_TRUE(analysis.evidence.empty() && analysis.stretched.empty());
  ASSERT_EQ(analysis.notes.size(), 2u);
  EXPECT_EQ(analysis.notes[0], "split test has only 62 windows");
}

TEST(Analysis, BadOptionsAreNamed) {
  const TemporaryDirectory directory;
  InspectedRun run(Train(directory, "tra", kFlipflop), at::kCPU, nullptr);
  AnalyzeOptions options = Few({1, 0});
  EXPECT_EQ(ErrorOf([&] { AnalyzeRun(run, options); }), "factors must be 1..1024, got 0");
  options = Few();
  options.examples = 0;
  EXPECT_EQ(ErrorOf([&] { AnalyzeRun(run, options); }), "examples must be at least 1, got 0");
  options = Few();
  options.split = "sparce";
  EXPECT_NE(ErrorOf([&] { AnalyzeRun(run, options); }).find("did you mean 'sparse'?"), std::string::npos);
}

// At a rate this small, the first step changes no weight, so that it shows what training began with.
TEST(InspectedRun, StepZeroIsTheModelThatTrainingBeganWith) {
  const TemporaryDirectory directory;
  const std::string path = Train(directory, "tra", kFlipflop, "steps = 1\nlr = 1e-30\nweight_decay = 0.0\nseed = 7\n");
  const InspectedRun last(path, at::kCPU, nullptr), first(path, at::kCPU, nullptr, 0);
  EXPECT_EQ(last.step(), 1);
  EXPECT_EQ(first.step(), 0);
  const auto weights = [](const InspectedRun& run) { return run.model().named_parameters(); };
  for (const auto& each : weights(last)) EXPECT_TRUE(at::equal(each.value(), weights(first)[each.key()])) << each.key();
}

TEST(InspectedRun, AnotherStepIsThatCheckpoint) {
  const TemporaryDirectory directory;
  const std::string path = Train(directory, "tra", kFlipflop);
  const InspectedRun second(path, at::kCPU, nullptr, 2), last(path, at::kCPU, nullptr);
  EXPECT_EQ(second.step(), 2);
  EXPECT_FALSE(at::equal(second.model().Head(), last.model().Head()));
  EXPECT_EQ(ErrorOf([&] { const InspectedRun none(path, at::kCPU, nullptr, 3); }),
            path + ": has no checkpoint of step 3; it has 0, 2, 4");
}

TEST(Analysis, OfADamagedCheckpointIsLeftOutWithAWarning) {
  const TemporaryDirectory directory;
  const std::string path = Train(directory, "tra", kFlipflop);
  std::ofstream(path + "/checkpoints/step-2/model.safetensors", std::ios::app) << "x";
  std::string warnings;
  InspectedRun run(path, at::kCPU, [&](const std::string& warning) { warnings += warning; });
  const Analysis analysis = AnalyzeRun(run, Few({}));
  EXPECT_EQ(analysis.evidence.size(), 2u);
  EXPECT_NE(warnings.find("step 2 is left out"), std::string::npos) << warnings;
}

TEST(VisitRows, GivesTheRowsAskedForHoweverFarApart) {
  const TemporaryDirectory directory;
  InspectedRun run(Train(directory, "tra", kFlipflop), at::kCPU, nullptr);
  const Inspection inspection = run.Inspect(run.At("sparse", 0).tokens);
  const AttentionMatrix all = inspection.Matrix({1, 0});
  const std::vector<size_t> queries = {0, 3, 40, 51, 79, 200, 500};
  std::vector<size_t> seen;
  VisitRows(inspection, {1, 0}, queries, [&](const HeadRow& row) {
    seen.push_back(row.query);
    for (size_t key = 0; key < row.Keys(); ++key) {
      const auto i = static_cast<int64_t>(row.query), j = static_cast<int64_t>(key);
      EXPECT_EQ(row.state[key], all.state[i][j].item<uint8_t>());
      EXPECT_EQ(row.weight[key], all.weight[i][j].item<float>());
      EXPECT_EQ(row.position[key], all.position[i][j].item<float>());
    }
  });
  EXPECT_EQ(seen, queries);
}

TEST(RunningMean, IsNothingWithoutNumbers) {
  RunningMean mean;
  EXPECT_FALSE(mean.Mean() || mean.Deviation());
  mean.Add(2);
  EXPECT_EQ(mean.Mean(), 2);
  EXPECT_FALSE(mean.Deviation());
  mean.Add(4);
  mean.Add(9);
  EXPECT_DOUBLE_EQ(*mean.Mean(), 5);
  EXPECT_DOUBLE_EQ(*mean.Deviation(), std::sqrt((9 + 1 + 16) / 2.0));
}

}  // namespace
}  // namespace tra
