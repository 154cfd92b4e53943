#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Makes two seeds of TRA and one of RoPE on flip-flop, each in its own folder, as a sweep leaves them.
class Tables : public testing::Test {
 protected:
  Tables() {
    Write("runs/flipflop-tra-s1", "flipflop", "tra", 1, 1.0);
    Write("runs/flipflop-tra-s2", "flipflop", "tra", 2, 0.5);
    Write("runs/flipflop-rope-s1", "flipflop", "rope", 1, 0.25);
  }

  // Writes results by hand and not with the library that reads them, so that the two cannot drift together.
  void Write(const std::string& run, const std::string& task, const std::string& attention, int seed,
             double value) const {
    const json row = {{"split", "iid"}, {"group", ""}, {"window", 0}, {"metric", "em"}, {"value", value}, {"n", 100}};
    const json results = {{"format", "tra-results"},
                          {"version", 1},
                          {"task", task},
                          {"attention", attention},
                          {"label", ""},
                          {"seed", seed},
                          {"step", 100},
                          {"context", json::object()},
                          {"rows", json::array({row})}};
    fs::create_directories(directory / run);
    std::ofstream(File(run)) << results.dump();
  }
  std::string File(const std::string& run) const { return directory / (run + "/results.json"); }
  std::string Runs() const { return directory / "runs"; }

  static void Expect(const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << said;
    EXPECT_EQ(result.out, "") << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  }

  TemporaryDirectory directory;
};

TEST_F(Tables, HelpNamesTheTablesAndShowsAnExample) {
  const Result result = RunTra("table --help");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(Contains(result.out, "table1, table2, table3, windows, solved, all")) << result.out;
  EXPECT_TRUE(Contains(result.out, "Example: tra table runs/small --paper")) << result.out;
}

TEST_F(Tables, CountsRunsThatSolveTheirTaskIfAskedTo) {
  const Result result = RunTra("table " + Runs() + " --table solved");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "| TRA | **75.00 ± 35.36** (n=2) | **1 of 2 [0.09, 0.91]** |")) << result.out;
  EXPECT_FALSE(Contains(RunTra("table " + Runs()).out, "**solved**"));
}

TEST_F(Tables, ListsEveryRunAsCsv) {
  const Result result = RunTra("table " + Runs() + " --runs --out " + (directory / "runs.csv"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ReadBytes(directory / "runs.csv"),
            "task,attention,label,seed,step,solved,iid,run\n"
            "flipflop,rope,,1,100,0,25,flipflop-rope-s1\n"
            "flipflop,tra,,1,100,1,100,flipflop-tra-s1\n"
            "flipflop,tra,,2,100,0,50,flipflop-tra-s2\n");
}

TEST_F(Tables, ThePapersTablesThatHaveResultsAreTheDefault) {
  const Result result = RunTra("table " + Runs());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "**table1**")) << result.out;
  EXPECT_TRUE(Contains(result.out, "|  | RoPE | TRA |")) << result.out;
  EXPECT_TRUE(Contains(result.out, "| Flip-flop IID | 25.00 (n=1) | **75.00 ± 35.36** (n=2) |")) << result.out;
  for (const char* other : {"**table2**", "**table3**", "**windows**", "**all**", "*paper*"}) {
    EXPECT_FALSE(Contains(result.out, other)) << other;
  }
}

TEST_F(Tables, WhatNoTableOfThePaperHasIsShownAsAll) {
  Write("others/induct-query-tra-s1", "induct-query", "tra", 1, 1.0);
  const Result result = RunTra("table " + (directory / "others"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "**all**")) << result.out;
  EXPECT_TRUE(Contains(result.out, "induct-query iid")) << result.out;
}

TEST_F(Tables, NamedTablesAreShownWithOrWithoutResults) {
  const Result result = RunTra("table " + Runs() + " --table all --table table2");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "**all**")) << result.out;
  EXPECT_TRUE(Contains(result.out, "**table2**")) << result.out;
  EXPECT_TRUE(Contains(result.out, "no results")) << result.out;
  EXPECT_FALSE(Contains(result.out, "**table1**")) << result.out;
}

TEST_F(Tables, ANameDoesNotSwallowTheFoldersBehindIt) {
  const std::string first = directory / "runs/flipflop-tra-s1", second = directory / "runs/flipflop-rope-s1";
  const Result result = RunTra("table --table table1 " + first + " " + second);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "| Flip-flop IID | 25.00 | **100.00** |")) << result.out;
}

TEST_F(Tables, AMisspeltNameIsBadUsage) {
  Expect(RunTra("table " + Runs() + " --table tabel1"), 2, "unknown table 'tabel1'; did you mean 'table1'?");
  Expect(RunTra("table " + Runs() + " --table table1 --table every"), 2,
         "unknown table 'every'; there are table1, table2, table3, windows, solved, all");
}

TEST_F(Tables, RunsOfOtherConfigurationsAreOtherSettings) {
  const auto configure = [&](const std::string& run, const std::string& lr, int seed) {
    std::ofstream(directory / (run + "/config.toml"))
        << "[model]\nheads = 4\n[train]\nlr = " << lr << "\nseed = " << seed << "\nkeep = " << seed << "\n";
  };
  configure("runs/flipflop-tra-s1", "1e-3", 1);
  configure("runs/flipflop-tra-s2", "1e-3", 2);  // another seed, and kept in another way: the same setting
  configure("runs/flipflop-rope-s1", "5e-3", 1);
  const Result one = RunTra("table " + Runs());
  EXPECT_TRUE(Contains(one.out, "|  | RoPE | TRA |")) << one.out << one.err;
  configure("runs/flipflop-tra-s2", "3e-4", 2);
  Write("runs/again", "flipflop", "tra", 2, 1.0);  // the same seed twice, but another rate
  configure("runs/again", "1e-3", 2);
  const Result two = RunTra("table " + Runs());
  EXPECT_TRUE(Contains(two.out, "|  | RoPE | TRA (lr=0.0003) | TRA (lr=0.001) |")) << two.out << two.err;
  EXPECT_TRUE(Contains(two.out, "| 25.00 (n=1) | 50.00 (n=1) | **100.00 ± 0.00** (n=2) |")) << two.out;
}

TEST_F(Tables, ThePapersNumbersStandUnderOurs) {
  const Result result = RunTra("table --paper " + Runs());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "| *paper* | 100.00 ± 0.00 | 100.00 ± 0.00 |")) << result.out;
  EXPECT_TRUE(Contains(result.out, "over 4 seeds as published")) << result.out;
  EXPECT_TRUE(Contains(result.out, "| Flip-flop solved | 0 of 1 [0.00, 0.79] | **1 of 2 [0.09, 0.91]** |"))
      << result.out;
  EXPECT_FALSE(Contains(result.out, "Copy")) << result.out;  // it was not run
}

TEST_F(Tables, EveryFormatHasTheSameNumbers) {
  const auto table = [&](const std::string& format) {
    const Result result = RunTra("table " + Runs() + " --format " + format);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(table("md"), RunTra("table " + Runs()).out);
  EXPECT_TRUE(Contains(table("latex"), "25.00 (n=1) & \\textbf{75.00 $\\pm$ 35.36} (n=2)")) << table("latex");
  EXPECT_TRUE(Contains(table("csv"), "table1,Flip-flop IID,rope,,1,25,")) << table("csv");
  EXPECT_TRUE(Contains(table("csv"), "table1,Flip-flop IID,tra,,2,75,")) << table("csv");
  const json all = json::parse(table("json"));
  ASSERT_EQ(all.at("tables").size(), 1u);
  const json& cells = all["tables"][0].at("lines").at(0).at("cells");
  EXPECT_EQ(cells.at(0).at("mean"), 25.0);
  EXPECT_EQ(cells.at(1).at("mean"), 75.0);
}

TEST_F(Tables, AFileIsWrittenInsteadOfStandardOutput) {
  const std::string file = directory / "table.md";
  const Result result = RunTra("table " + Runs() + " --out " + file);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(ReadBytes(file), RunTra("table " + Runs()).out);
}

TEST_F(Tables, BadUsageIsTwoAndFailureIsOne) {
  Expect(RunTra("table"), 2, "folders is required");
  Expect(RunTra("table " + Runs() + " --format xml"), 2, "xml not in");
  // The same run twice would count a seed twice.
  Expect(RunTra("table " + Runs() + " " + File("runs/flipflop-tra-s1")), 2, "leave one out");

  Expect(RunTra("table " + (directory / "none")), 1, "none: no such file or folder; check the path");
  fs::create_directories(directory / "empty");
  Expect(RunTra("table " + (directory / "empty")), 1, "no results.json there; tra train and tra sweep write them");
  std::ofstream(File("runs/flipflop-tra-s2")) << "{";
  Expect(RunTra("table " + Runs()), 1, "; evaluate the run again");
}

}  // namespace
}  // namespace tra
