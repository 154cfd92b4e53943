#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run.h"
#include "tra/tasks/export.h"

namespace tra {
namespace {

using nlohmann::json;

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Data, EveryHelpShowsAnExampleThatWorks) {
  for (const char* command : {"list", "data", "data show", "data export", "data import"}) {
    const Result result = RunTra(std::string(command) + " --help");
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_TRUE(Contains(result.out, "Example: tra " + std::string(command).substr(0, 4))) << result.out;
  }
  EXPECT_EQ(RunTra("data show flipflop --split sparse --index 17").code, 0);
  const Result show = RunTra("data show --help");
  EXPECT_TRUE(Contains(show.out, "{auto,always,never}")) << show.out;
  for (const char c : show.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << show.out;
}

TEST(Data, ListHasEveryTaskAndSplit) {
  const Result result = RunTra("list");
  const json list = json::parse(RunTra("list --json").out);
  ASSERT_EQ(list.at("tasks").size(), Tasks().size());
  for (size_t i = 0; i < Tasks().size(); ++i) {
    EXPECT_EQ(list["tasks"][i]["name"], Tasks()[i].name);
    EXPECT_TRUE(Contains(result.out, Tasks()[i].summary));
    EXPECT_EQ(list["tasks"][i]["splits"].size(), Tasks()[i].splits.size());
  }
}

TEST(Data, ShowMarksTheAnswersAndExplainsThem) {
  const Result result = RunTra("data show flipflop++ --split 51-100 --index 3");
  EXPECT_EQ(result.code, 0);
  const GeneratedExamples examples("flipflop++", "51-100", 0);
  const Example example = examples.At(3);
  const std::string answer = examples.names()[static_cast<size_t>(example.tokens.back())];
  EXPECT_TRUE(Contains(result.out, " [" + answer + "]\n")) << result.out;
  for (const std::string& sentence : examples.task().kind.explain(example, examples.names())) {
    EXPECT_TRUE(Contains(result.out, sentence)) << result.out;
  }
  EXPECT_FALSE(Contains(result.out, "\033["));  // not on a terminal
  EXPECT_TRUE(Contains(RunTra("data show flipflop++ --color always").out, "\033[1;32m"));
}

TEST(Data, ShowHoldsTheWholeExampleHoweverItIsWrapped) {
  for (const Task& task : Tasks()) {
    const GeneratedExamples examples(task.name, "iid", 4);
    const Result result = RunTra(std::string("data show --seed 4 --index 6 --all ") + task.name);
    std::string shown, want;
    const std::vector<std::string> lines = Lines(result.out);
    for (size_t i = 2; i < lines.size() && !lines[i].empty(); ++i) shown += lines[i].substr(8);
    for (const char mark : {' ', '[', ']'}) shown.erase(std::remove(shown.begin(), shown.end(), mark), shown.end());
    for (const int32_t token : examples.At(6).tokens) want += examples.names()[static_cast<size_t>(token)];
    EXPECT_EQ(shown, want);
  }
}

TEST(Data, ExportWritesSelfDescribingFiles) {
  const TemporaryDirectory directory;
  const std::string file = directory / "e.jsonl";
  ASSERT_EQ(RunTra("data export induct --split 51-100 --seed 9 --first 3 --count 5 --out " + file).code, 0);
  const std::vector<std::string> lines = Lines(ReadBytes(file));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(json::parse(lines[0]).at("seed"), 9);
  const GeneratedExamples examples("induct", "51-100", 9);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(json::parse(lines[i + 1]).at("tokens").get<std::vector<int32_t>>(), examples.At(3 + i).tokens);
  }
  const std::vector<std::string> text = Lines(RunTra("data export copy --count 2 --format text").out);
  EXPECT_TRUE(Contains(text.front(), "# tra-examples: copy"));
  EXPECT_EQ(Lines(RunTra("data export copy --count 2 --format text --bare").out).size(), 2u);
}

TEST(Data, WhatIsExportedCanBeImported) {
  const TemporaryDirectory directory;
  const std::string text = directory / "lines.txt", back = directory / "back.jsonl";
  ASSERT_EQ(RunTra("data export flipflop --split sparse --count 50 --format text --out " + text).code, 0);
  const Result result = RunTra("data import " + text + " --out " + back);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "50 sequences of 512 symbols")) << result.out;
  EXPECT_TRUE(Contains(result.out, "nearest to split sparse")) << result.out;
  const std::vector<std::string> lines = Lines(ReadBytes(back));
  ASSERT_EQ(lines.size(), 51u);
  const GeneratedExamples examples("flipflop", "sparse", 0);
  EXPECT_EQ(lines[50], JsonlLine(examples.At(49), 49, examples.task(), examples.names()));
}

TEST(Data, ARangeMayBeWrittenWithDots) {
  const Result dots = RunTra("data export copy --lengths 51..60 --count 3");
  EXPECT_EQ(dots.code, 0) << dots.err;
  EXPECT_EQ(dots.out, RunTra("data export copy --lengths 51-60 --count 3").out);
}

TEST(Data, BadUsageIsTwoAndFailureIsOne) {
  const TemporaryDirectory directory;
  const auto expect = [](const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect(RunTra(""), 2, "Usage");
  expect(RunTra("dta"), 2, "unknown command 'dta'; did you mean 'data'?");
  expect(RunTra("data shwo copy"), 2, "unknown data command 'shwo'; did you mean 'show'?");
  expect(RunTra("data"), 2, "subcommand is required");
  expect(RunTra("data show copi"), 2, "unknown task 'copi'; did you mean 'copy'?");
  expect(RunTra("data show copy --split 51-10"), 2, "did you mean '51-100'?");
  expect(RunTra("data show copy --lengths 5-x"), 2, "--lengths must be a number or a range");
  expect(RunTra("data show copy --lengths 5.6"), 2, "--lengths must be a number or a range");
  expect(RunTra("data show induct --lengths 301"), 2, "must be within 1-300");
  expect(RunTra("data show copy --index -1"), 2, "--index");
  expect(RunTra("data show copy --color sometimes"), 2, "sometimes not in");
  expect(RunTra("data export copy --format xml"), 2, "xml not in");
  expect(RunTra("data import " + (directory / "none")), 1, "cannot open: No such file or directory; check the path");
  expect(RunTra("data export copy --out " + (directory / "no/such/place")), 1, "create its directory first");
  expect(RunTra("data export copy --count 9 --out /dev/full"), 1, "not a regular file");
  EXPECT_EQ(directory.Names(), std::set<std::string>{});
}

}  // namespace
}  // namespace tra
