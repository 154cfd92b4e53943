// Tests the answers of the explorer: they are the numbers of the model, and what is wrong with a request is said.
#include "tra/view/explorer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/inspect/trained.h"

namespace tra {
namespace {

using nlohmann::json;
using testing::TrainFlipFlop;

class Exploring : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory();
    TrainFlipFlop(*directory_, "tra");
    TrainFlipFlop(*directory_, "diff");
    std::filesystem::remove_all(TrainFlipFlop(*directory_, "fot") + "/checkpoints");
    explorer_ = new Explorer({*directory_ / ""}, at::kCPU, {64, 4096}, nullptr);
  }
  static void TearDownTestSuite() {
    delete explorer_;
    delete directory_;
  }

  static json Ask(const std::string& path, const json& what, int status = 200) {
    const ViewAnswer answer = explorer_->Answer("POST", path, what.dump());
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body);
  }
  static std::string ErrorOf(const std::string& path, const json& what) { return Ask(path, what, 400).at("error"); }

  static json Runs() { return json::parse(explorer_->Answer("GET", "/api/runs", "").body).at("runs"); }
  static int Id(const std::string& attention) {
    for (const json& run : Runs()) {
      const auto name = run.at("name").get<std::string>();
      if (name.size() > attention.size() && name.substr(name.size() - attention.size()) == attention)
        return run.at("id");
    }
    throw std::runtime_error("no run of " + attention);
  }

  static TemporaryDirectory* directory_;
  static Explorer* explorer_;
};

TemporaryDirectory* Exploring::directory_ = nullptr;
Explorer* Exploring::explorer_ = nullptr;

TEST_F(Exploring, ListsRunsAndSaysWhyOneCannotBeShown) {
  EXPECT_EQ(explorer_->Runs(), 3U);
  EXPECT_EQ(explorer_->Shown(), 2U);
  const json tra = Runs().at(Id("tra"));
  EXPECT_EQ(tra.at("rule"), "threshold");
  EXPECT_EQ(tra.at("title"), "TRA");
  EXPECT_EQ(tra.at("task"), "flipflop");
  EXPECT_EQ(tra.at("layers"), 2);
  EXPECT_EQ(tra.at("heads"), 2);
  EXPECT_EQ(tra.at("attentions"), 1);
  EXPECT_EQ(tra.at("step"), 2);
  EXPECT_EQ(tra.at("symbols").at(1), "w");
  EXPECT_EQ(tra.at("splits"), json({"train", "iid", "sparse", "dense"}));
  EXPECT_EQ(Runs().at(Id("diff")).at("attentions"), 2);
  const auto error = Runs().at(Id("fot")).at("error").get<std::string>();
  EXPECT_NE(error.find("checkpoint"), std::string::npos) << error;
  EXPECT_EQ(ErrorOf("/api/input", {{"run", Id("fot")}, {"split", "iid"}, {"index", 0}}), error);
}

TEST_F(Exploring, AnExampleAndTypedSymbolsBecomeTokens) {
  const json example = Ask("/api/input", {{"run", Id("tra")}, {"split", "dense"}, {"index", 1}, {"length", 20}});
  InspectedRun run(*directory_ / "tra", at::kCPU, nullptr);
  const Example expected = run.At("dense", 1, 20);
  EXPECT_EQ(expected.tokens.size(), 40U);
  EXPECT_EQ(example.at("tokens"), json(expected.tokens));
  for (size_t i = 0; i < expected.tokens.size(); ++i) {
    const bool asked = i + 1 < expected.tokens.size() && expected.supervised[i + 1] != 0;
    EXPECT_EQ(example.at("targets").at(i), asked ? expected.tokens[i + 1] : -1);
  }
  std::string typed;
  for (const json& text : example.at("texts")) typed += text.get<std::string>() + " ";
  EXPECT_EQ(Ask("/api/input", {{"run", Id("tra")}, {"text", typed}}).at("tokens"), example.at("tokens"));
}

TEST_F(Exploring, AnswersComeWithTheirEvidence) {
  const json asked = {{"run", Id("tra")}, {"split", "iid"}, {"index", 3}, {"length", 12}};
  const json input = Ask("/api/input", asked);
  ASSERT_FALSE(input.at("evidence").empty());
  for (const json& pair : input.at("evidence")) {
    const size_t query = pair.at(0), key = pair.at(1);
    EXPECT_EQ(input.at("texts").at(query), "r");
    EXPECT_EQ(input.at("texts").at(key - 1), "w");
    EXPECT_EQ(input.at("targets").at(query), input.at("tokens").at(key));
  }
}

TEST_F(Exploring, AStretchedExampleHasTheSameAnswersAndSaysWhatWasInserted) {
  json asked = {{"run", Id("tra")}, {"split", "iid"}, {"index", 3}, {"length", 8}};
  const json input = Ask("/api/input", asked);
  asked["factor"] = 4;
  const json stretched = Ask("/api/stretch", asked);
  EXPECT_EQ(stretched.at("tokens").size(), 4 * input.at("tokens").size());
  EXPECT_EQ(stretched.at("evidence").size(), input.at("evidence").size());
  size_t next = 0;
  for (size_t i = 0; i < stretched.at("tokens").size(); ++i) {
    const auto from = stretched.at("from").at(i).get<int64_t>();
    if (from < 0) continue;
    EXPECT_EQ(static_cast<size_t>(from), next++);
    EXPECT_EQ(stretched.at("tokens").at(i), input.at("tokens").at(static_cast<size_t>(from)));
    EXPECT_EQ(stretched.at("targets").at(i), input.at("targets").at(static_cast<size_t>(from)));
  }
  EXPECT_EQ(next, input.at("tokens").size());
  EXPECT_EQ(Ask("/api/stretch", asked), stretched);
  asked["factor"] = 16;
  EXPECT_EQ(ErrorOf("/api/stretch", asked), "there are 256 tokens; the explorer takes up to 64 (tra view --tokens)");
  asked["factor"] = 65;
  EXPECT_EQ(ErrorOf("/api/stretch", asked), "factor must be from 1 to 64");
}

TEST_F(Exploring, ARowIsTheModelsToTheLastBit) {
  InspectedRun run(*directory_ / "tra", at::kCPU, nullptr);
  const std::vector<int32_t> tokens = run.At("iid", 0, 16).tokens;
  const Inspection inspection = run.Inspect(tokens);
  json asked = {{"run", Id("tra")}, {"tokens", tokens}, {"layer", 1}, {"head", 1}, {"query", 17}};
  const json row = Ask("/api/row", asked);
  const AttentionMatrix matrix = inspection.Matrix({1, 1}, {17, 18, 0, 18});
  const auto expect = [&](const char* key, const at::Tensor& values) {
    ASSERT_EQ(row.at(key).size(), 18U);
    for (size_t i = 0; i < 18; ++i) {
      const float value = values[0][static_cast<int64_t>(i)].item<float>();
      if (std::isinf(value)) {
        EXPECT_TRUE(row.at(key).at(i).is_null());
      } else {
        EXPECT_EQ(row.at(key).at(i).get<float>(), value) << key << i;
      }
    }
  };
  expect("score", matrix.score);
  expect("position", matrix.position);
  expect("term", matrix.term);
  expect("logit", matrix.logit);
  expect("weight", matrix.weight);
  EXPECT_EQ(row.at("log_gate"), row.at("model_log_gate"));

  asked["log_gate"] = -0.25;
  const json other = Ask("/api/row", asked);
  EXPECT_EQ(other.at("log_gate"), -0.25);
  EXPECT_EQ(other.at("model_log_gate"), row.at("model_log_gate"));
  EXPECT_EQ(other.at("score"), row.at("score"));
  for (size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(other.at("term").at(i).get<float>(), -0.25f * row.at("position").at(i).get<float>());
  }
}

TEST_F(Exploring, APooledMatrixHasTheLargestOfTheKeptCells) {
  InspectedRun run(*directory_ / "tra", at::kCPU, nullptr);
  const std::vector<int32_t> tokens = run.At("iid", 0, 16).tokens;
  const AttentionMatrix matrix = run.Inspect(tokens).Matrix({0, 1});
  const ViewAnswer answer = explorer_->Answer("POST", "/api/matrix",
                                              json({{"run", Id("tra")},
                                                    {"tokens", tokens},
                                                    {"layer", 0},
                                                    {"head", 1},
                                                    {"what", "weight"},
                                                    {"queries", {3, 32}},
                                                    {"keys", {1, 32}},
                                                    {"pool", 5}})
                                                  .dump());
  ASSERT_EQ(answer.status, 200) << answer.body;
  const size_t rows = 6, columns = 7;  // 29 and 31 by fives
  EXPECT_EQ(answer.headers, (std::vector<std::pair<std::string, std::string>>{{"X-Rows", "6"}, {"X-Columns", "7"}}));
  ASSERT_EQ(answer.body.size(), rows * columns * 5);
  std::vector<float> values(rows * columns);
  std::memcpy(values.data(), answer.body.data(), values.size() * 4);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      float largest = -1;
      bool past = false;
      for (int64_t q = 3 + 5 * static_cast<int64_t>(r); q < std::min<int64_t>(32, 8 + 5 * static_cast<int64_t>(r));
           ++q) {
        for (int64_t k = 1 + 5 * static_cast<int64_t>(c); k < std::min<int64_t>(32, 6 + 5 * static_cast<int64_t>(c));
             ++k) {
          past = past || k <= q;
          if (matrix.state[q][k].item<uint8_t>() == 2) largest = std::max(largest, matrix.weight[q][k].item<float>());
        }
      }
      const auto state = static_cast<uint8_t>(answer.body[rows * columns * 4 + r * columns + c]);
      EXPECT_EQ(state == 0, !past);
      EXPECT_EQ(state == 2, largest >= 0);
      if (largest >= 0) {
        EXPECT_EQ(values[r * columns + c], largest);
      }
    }
  }
}

TEST_F(Exploring, WhatIsWrongWithARequestIsSaid) {
  const int tra = Id("tra");
  EXPECT_EQ(explorer_->Answer("GET", "/api/row", "").status, 405);
  EXPECT_EQ(explorer_->Answer("GET", "/api/../../etc/passwd", "").status, 404);
  EXPECT_EQ(explorer_->Answer("POST", "/api/row", "{\"run\":").status, 400);
  EXPECT_EQ(explorer_->Answer("POST", "/api/row", "[]").status, 400);
  EXPECT_EQ(explorer_->Answer("POST", "/api/row", std::string(100000, '[')).status, 400);
  EXPECT_EQ(ErrorOf("/api/pass", {{"run", 9}, {"tokens", {1}}}), "run must be from 0 to 2");
  EXPECT_EQ(ErrorOf("/api/pass", {{"run", 18446744073709551615U}, {"tokens", {1}}}), "run must be from 0 to 2");
  EXPECT_EQ(ErrorOf("/api/pass", {{"run", tra}}), "tokens must be a list of ids");
  EXPECT_EQ(ErrorOf("/api/pass", {{"run", tra}, {"tokens", {1, "x"}}}), "tokens must be a list of ids");
  EXPECT_EQ(ErrorOf("/api/pass", {{"run", tra}, {"tokens", std::vector<int>(65, 1)}}),
            "there are 65 tokens; the explorer takes up to 64 (tra view --tokens)");
  EXPECT_NE(ErrorOf("/api/pass", {{"run", tra}, {"tokens", {1, 77}}}).find("token 77"), std::string::npos);
  EXPECT_NE(ErrorOf("/api/pass", {{"run", tra}, {"tokens", json::array()}}).find("no tokens"), std::string::npos);
  json row = {{"run", tra}, {"tokens", {1, 4}}, {"layer", 0}, {"head", 5}, {"query", 1}};
  EXPECT_EQ(ErrorOf("/api/row", row), "there is no head 5; there are 0 to 1");
  row["head"] = 0;
  row["query"] = 2;
  EXPECT_EQ(ErrorOf("/api/row", row), "query must be from 0 to 1");
  row["query"] = 1;
  row["log_gate"] = 0.5;
  EXPECT_EQ(ErrorOf("/api/row", row), "log_gate must be a number of at most 0");
  row["log_gate"] = -1;
  row["run"] = Id("diff");
  EXPECT_NE(ErrorOf("/api/row", row).find("with a threshold"), std::string::npos);
  json matrix = {{"run", tra}, {"tokens", {1, 4}}, {"layer", 0}, {"head", 0}, {"what", "weights"}};
  EXPECT_EQ(ErrorOf("/api/matrix", matrix), "what must be score, term, logit, weight or position");
  matrix["what"] = "weight";
  matrix["keys"] = {1, 1};
  EXPECT_EQ(ErrorOf("/api/matrix", matrix), "keys must be a part of 0 to 2 that is not empty");
  EXPECT_NE(ErrorOf("/api/input", {{"run", tra}, {"text", "w 0 q"}}).find("'q'"), std::string::npos);
  EXPECT_NE(ErrorOf("/api/input", {{"run", tra}, {"split", "idd"}, {"index", 0}}).find("iid"), std::string::npos);
  json example = {{"run", tra}, {"split", "iid"}, {"index", 0}, {"length", 65}};
  EXPECT_EQ(ErrorOf("/api/input", example), "length must be from 1 to 64");
  example["length"] = 60;
  EXPECT_EQ(ErrorOf("/api/input", example), "there are 120 tokens; the explorer takes up to 64 (tra view --tokens)");
  example["length"] = 1;
  EXPECT_NE(ErrorOf("/api/input", example), "");
}

TEST_F(Exploring, TheWorkOfARequestIsBounded) {
  Explorer bounded({*directory_ / "tra"}, at::kCPU, {64, 4096, 100}, nullptr);
  json matrix = {{"run", 0},         {"tokens", std::vector<int>(20, 1)},
                 {"layer", 0},       {"head", 0},
                 {"what", "weight"}, {"queries", {0, 20}},
                 {"keys", {0, 1}}};
  const ViewAnswer refused = bounded.Answer("POST", "/api/matrix", matrix.dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("ask for fewer queries"), std::string::npos) << refused.body;
  matrix["queries"] = {15, 20};
  EXPECT_EQ(bounded.Answer("POST", "/api/matrix", matrix.dump()).status, 200);
}

TEST_F(Exploring, RunsOfTheSameNameInDifferentFoldersAreToldApart) {
  const std::string other = *directory_ / "elsewhere";
  std::filesystem::create_directories(other);
  std::filesystem::copy(*directory_ / "tra", other + "/tra", std::filesystem::copy_options::recursive);
  Explorer both({*directory_ / "tra", other + "/tra"}, at::kCPU, {}, nullptr);
  const json runs = json::parse(both.Answer("GET", "/api/runs", "").body).at("runs");
  std::filesystem::remove_all(other);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_NE(runs.at(0).at("name"), runs.at(1).at("name"));
}

}  // namespace
}  // namespace tra
