#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Makes folders as runs of flip-flop leave them, without weights.
class Plots : public testing::Test {
 protected:
  Plots() {
    Write("tra-s1", "tra", 1, 1.0);
    Write("tra-s2", "tra", 2, 0.5);
    Write("rope-s1", "rope", 1, 0.25);
  }

  static json Results(const std::string& attention, int seed, const std::string& split, double value) {
    const json row = {{"split", split}, {"group", ""}, {"window", 0}, {"metric", "em"}, {"value", value}, {"n", 100}};
    return {{"format", "tra-results"},
            {"version", 1},
            {"task", "flipflop"},
            {"attention", attention},
            {"label", ""},
            {"seed", seed},
            {"step", 100},
            {"context", json::object()},
            {"rows", json::array({row})}};
  }

  void Write(const std::string& name, const std::string& attention, int seed, double value) const {
    const fs::path run = fs::path(Runs()) / name;
    fs::create_directories(run);
    std::ofstream(run / "results.json") << Results(attention, seed, "iid", value).dump();
    std::ofstream(run / "metrics.jsonl")
        << "{\"step\":50,\"eval/iid/em\":0,\"train/loss\":2.0}\n{\"step\":100,\"eval/iid/em\":" << value
        << ",\"train/loss\":0.5}\n";
    std::ofstream(run / "config.toml") << "[model]\nattention = \"" << attention << "\"\n[train]\nseed = " << seed
                                       << "\n";
  }

  std::string Runs() const { return directory / "runs"; }
  std::string Out(const std::string& name) const { return directory / name; }
  Result Plot(const std::string& arguments) const { return RunTra("plot " + Runs() + " " + arguments); }

  static void Expect(const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << said;
    EXPECT_EQ(result.out, "") << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  }

  TemporaryDirectory directory;
};

TEST_F(Plots, CurvesAreTheDefaultWithABandOverSeeds) {
  const Result result = Plot("--out " + Out("c.svg"));
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string svg = ReadBytes(Out("c.svg"));
  EXPECT_TRUE(Contains(svg, "<title>TRA: 75 at 100</title>")) << svg;
  EXPECT_TRUE(Contains(svg, "<title>RoPE: 25 at 100</title>"));
  EXPECT_TRUE(Contains(svg, "Lines: mean over seeds; bands:"));
}

TEST_F(Plots, TheNameOfTheFileChoosesItsKind) {
  EXPECT_EQ(Plot("--out " + Out("c.png")).code, 0);
  EXPECT_EQ(ReadBytes(Out("c.png")).substr(1, 3), "PNG");
  EXPECT_EQ(Plot("--out " + Out("c.html")).code, 0);
  EXPECT_EQ(ReadBytes(Out("c.html")).substr(0, 15), "<!doctype html>");
  Expect(Plot("--out " + Out("c.pdf")), 2, "charts are saved as .svg, .png or .html");
  EXPECT_FALSE(fs::exists(Out("c.pdf")));
}

TEST_F(Plots, AnyMetricCanBeDrawnAndAMisspeltOneIsCorrected) {
  EXPECT_EQ(Plot("--metric train/loss --title 'a <title>' --out " + Out("l.svg")).code, 0);
  EXPECT_TRUE(Contains(ReadBytes(Out("l.svg")), "a &lt;title&gt;"));
  EXPECT_TRUE(Contains(ReadBytes(Out("l.svg")), "<title>TRA: 0.5 at 100</title>"));
  Expect(Plot("--metric train/lss --out " + Out("x.svg")), 2, "unknown metric 'train/lss'; did you mean 'train/loss'?");
  EXPECT_FALSE(fs::exists(Out("x.svg")));
}

TEST_F(Plots, OtherEvaluationsInTheFolderOfARunAreFurtherLengths) {
  Expect(Plot("--chart lengths --out " + Out("n.svg")), 1,
         "none of the runs was scored at two lengths or more; tra eval RUN --lengths");
  std::ofstream(Runs() + "/tra-s1/longer.json") << Results("tra", 1, "2048-2048", 0.125).dump();
  std::ofstream(Runs() + "/tra-s2/longer.json") << Results("tra", 2, "2048-2048", 0).dump();
  std::ofstream(Runs() + "/tra-s1/env.json") << "{}";
  const Result result = Plot("--chart lengths --out " + Out("n.svg"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(ReadBytes(Out("n.svg")), "<title>TRA: 6.25 at 2048</title>")) << ReadBytes(Out("n.svg"));
}

TEST_F(Plots, RunsThatAreStillTrainedHaveCurves) {
  fs::remove(Runs() + "/rope-s1/results.json");
  EXPECT_EQ(Plot("--out " + Out("c.svg")).code, 0);
  EXPECT_TRUE(Contains(ReadBytes(Out("c.svg")), "<title>RoPE: 25 at 100</title>"));
}

TEST_F(Plots, WhatIsMissingIsSaid) {
  Expect(Plot("--chart windows --out " + Out("w.svg")), 1, "none of the runs was scored on text");
  Expect(RunTra("plot " + (directory / "none") + " --out " + Out("c.svg")), 1,
         "none: no such file or folder; check the path");
  fs::create_directories(directory / "empty");
  Expect(RunTra("plot " + (directory / "empty") + " --out " + Out("c.svg")), 1,
         "there are no runs in or below it; tra train and tra sweep make them");
  Expect(Plot("--chart curve --out " + Out("c.svg")), 2, "curve not in");
  Expect(Plot(""), 2, "--out is required");
  // The same seed twice.
  Expect(RunTra("plot " + Runs() + " " + Runs() + "/../runs/tra-s1/. --out " + Out("c.svg")), 0, "");
  fs::copy(Runs() + "/tra-s1", Runs() + "/again");
  Expect(Plot("--out " + Out("d.svg")), 2, "leave one out, or tell them apart by label");
}

TEST_F(Plots, HelpNamesTheChartsAndShowsAnExample) {
  const Result result = RunTra("plot --help");
  EXPECT_EQ(result.code, 0);
  for (const char* name : {"curves: ", "lengths: ", "windows: ", "positions: ", "Example: tra plot results/"}) {
    EXPECT_TRUE(Contains(result.out, name)) << result.out;
  }
}

}  // namespace
}  // namespace tra
