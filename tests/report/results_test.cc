#include "tra/report/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include "tests/base/files.h"
#include "tests/report/runs.h"

namespace tra {
namespace {

using nlohmann::ordered_json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RunResults Full() {
  RunResults results =
      RunOf("text", "tra", 18'446'744'073'709'551'615u,
            {Perplexity(128, 30.04), {"test", "some \"group\"", 0, "loss", 1.0 / 3, 7}}, "wide | \\ é");
  results.context = {{"tokenizer", "gpt2"}, {"stride", 64}};
  return results;
}

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string ErrorOfText(const std::string& text) {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.json";
  std::ofstream(path) << text;
  const std::string error = ErrorOf([&] { ReadResults(path); });
  EXPECT_EQ(error.substr(0, path.size() + 2), path + ": ") << text;
  return error.size() > path.size() + 2 ? error.substr(path.size() + 2) : error;
}

std::string ErrorWith(const std::function<void(ordered_json&)>& damage) {
  ordered_json json = ToJson(Full());
  damage(json);
  return ErrorOfText(json.dump());
}

TEST(Results, ReadsBackWhatItWrote) {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.json";
  const RunResults written = Full();
  WriteResults(path, written);
  EXPECT_EQ(directory.Names(), std::set<std::string>{"results.json"});
  const RunResults read = ReadResults(path);
  EXPECT_EQ(read.file, path);
  EXPECT_EQ(ToJson(read), ToJson(written));
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.label, written.label);
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].window, 128);
  EXPECT_EQ(read.rows[1].value, 1.0 / 3);  // to the last bit
  EXPECT_EQ(read.context.at("stride"), 64);
}

TEST(Results, FormatIsWhatIsDocumented) {
  RunResults results = RunOf("copy", "tra", 3, {Em("iid", 0.5)});
  EXPECT_EQ(ToJson(results).dump(),
            R"({"format":"tra-results","version":1,"task":"copy","attention":"tra","label":"","seed":3,"step":2000,)"
            R"("context":{},"rows":[{"split":"iid","group":"","window":0,"metric":"em","value":0.5,"n":1000}]})");
}

TEST(Results, WhatJsonHasNoNumberForSurvives) {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.json";
  WriteResults(path, RunOf("text", "tra", 1,
                           {Perplexity(128, std::nan("")), Perplexity(256, kInfinity), Perplexity(512, -kInfinity)}));
  EXPECT_NE(ReadBytes(path).find("\"value\": null"), std::string::npos);
  const RunResults read = ReadResults(path);
  EXPECT_TRUE(std::isnan(read.rows.at(0).value));
  EXPECT_EQ(read.rows.at(1).value, kInfinity);
  EXPECT_EQ(read.rows.at(2).value, -kInfinity);
}

TEST(Results, MissingFileIsNamed) {
  const TemporaryDirectory directory;
  const std::string path = directory / "nowhere.json";
  EXPECT_EQ(ErrorOf([&] { ReadResults(path); }).find(path), 0u);
}

TEST(Results, TruncatedFilesAreErrorsThatBeginWithThePath) {
  const std::string whole = ToJson(Full()).dump();
  for (size_t size = 0; size < whole.size(); size += 7) ErrorOfText(whole.substr(0, size));
  EXPECT_NE(ErrorOfText(whole.substr(0, 40)).find("evaluate the run again"), std::string::npos);
}

TEST(Results, OtherFormatsAndVersionsAreRefused) {
  EXPECT_EQ(ErrorOfText("[]"), "the whole must be an object, got array");
  EXPECT_EQ(ErrorWith([](auto& json) { json["format"] = "tra-examples"; }),
            "format must be \"tra-results\", got \"tra-examples\"");
  EXPECT_EQ(ErrorWith([](auto& json) { json["version"] = 2; }).find("version must be 1, got 2; "), 0u);
  EXPECT_EQ(ErrorWith([](auto& json) { json["version"] = "1"; }).find("version must be 1, got \"1\"; "), 0u);
}

TEST(Results, WrongTypesNameTheField) {
  EXPECT_EQ(ErrorWith([](auto& json) { json["task"] = 1; }), "task must be a string, got 1");
  EXPECT_EQ(ErrorWith([](auto& json) { json["task"] = ""; }), "task must not be empty");
  EXPECT_EQ(ErrorWith([](auto& json) { json["attention"] = nullptr; }), "attention must be a string, got null");
  EXPECT_EQ(ErrorWith([](auto& json) { json["seed"] = -1; }), "seed must be from 0 to 18446744073709551615, got -1");
  EXPECT_EQ(ErrorWith([](auto& json) { json["seed"] = true; }), "seed must be an integer, got true");
  EXPECT_EQ(ErrorWith([](auto& json) { json["step"] = 1.5; }), "step must be an integer, got 1.5");
  EXPECT_EQ(ErrorWith([](auto& json) { json["step"] = 18'446'744'073'709'551'615u; }),
            "step must be from 0 to 9223372036854775807, got 18446744073709551615");
  EXPECT_EQ(ErrorWith([](auto& json) { json["context"] = "gpt2"; }), "context must be an object, got \"gpt2\"");
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"] = 3; }), "rows must be an array, got number");
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"][1] = 3; }), "rows[1] must be an object, got number");
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"][1]["n"] = 0; }),
            "rows[1].n must be from 1 to 9223372036854775807, got 0");
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"][0]["value"] = "30"; }),
            "rows[0].value must be a number, null for NaN, \"inf\" or \"-inf\", got \"30\"");
}

TEST(Results, MissingUnknownAndRepeatedPartsAreErrors) {
  for (const std::string name :
       {"format", "version", "task", "attention", "label", "seed", "step", "context", "rows"}) {
    EXPECT_EQ(ErrorWith([&](auto& json) { json.erase(name); }).find(name + " is missing; "), 0u) << name;
  }
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"][0].erase("value"); }).find("rows[0].value is missing; "), 0u);
  EXPECT_EQ(ErrorWith([](auto& json) { json["sed"] = 1; }).find("unknown field 'sed'; did you mean 'seed'?"), 0u);
  EXPECT_EQ(ErrorWith([](auto& json) {
              json["rows"][1]["grup"] = "";
            }).find("unknown field of rows[1] 'grup'; did you mean 'group'?"),
            0u);
  EXPECT_EQ(ErrorWith([](auto& json) { json["rows"].push_back(json["rows"][0]); }),
            "rows[2] has the split, group, window and metric of an earlier row");
}

TEST(Results, WhatCouldNotBeReadIsNotWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.json";
  for (const char* label : {"", "not UTF-8: \xff"}) {
    RunResults results = Full();
    results.label = label;
    if (results.label.empty()) results.rows[0].n = 0;
    EXPECT_EQ(ErrorOf([&] { WriteResults(path, results); }).find(path + ": "), 0u);
  }
  EXPECT_TRUE(directory.Names().empty());
}

TEST(Results, AShareBeyondAllIsRefused) {
  EXPECT_EQ(ErrorWith([](auto& json) {
              json["rows"][0]["metric"] = "em";
              json["rows"][0]["value"] = 2;
            }),
            "rows[0].value of em must be a share from 0 to 1, got 2");
  EXPECT_EQ(ErrorWith([](auto& json) {
              json["rows"][0]["metric"] = "token_error";
              json["rows"][0]["value"] = -0.5;
            }),
            "rows[0].value of token_error must be a share from 0 to 1, got -0.5");
}

TEST(Results, DeepNestingIsRefused) {
  std::string deep = ToJson(Full()).dump();
  deep.replace(deep.find("\"context\":") + 10, 0, std::string(200'000, '['));
  EXPECT_NE(ErrorOfText(deep).find("is nested more than 64 deep; evaluate the run again"), std::string::npos);
}

}  // namespace
}  // namespace tra
