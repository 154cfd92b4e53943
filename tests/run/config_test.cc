#include "tra/run/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <stdexcept>

#include "tra/run/data.h"
#include "tra/run/directory.h"
#include "tra/run/sweep.h"

namespace tra {
namespace {

RunConfig Parse(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  return ParseConfig(toml, overrides, "x.toml");
}

std::string Error(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  try {
    Parse(toml, overrides);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunConfig, WhatListShowsIsWhatAnEmptyFileGives) {
  RunConfig listed, empty = Parse("");
  const std::vector<ConfigKey> shown = ConfigKeys(listed), read = ConfigKeys(empty);
  ASSERT_EQ(shown.size(), read.size());
  for (size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i].get(), read[i].get()) << shown[i].name;
}

TEST(RunConfig, EveryKeySurvivesTheResolvedFile) {
  // Sets every key to a value that is not its default.
  RunConfig config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    bool changed = false;
    const std::string before = key.get();
    for (const char* value : {"true", "\"other\"", "7", "[[3, 5]]", "[3, 5]", "[\"iid\"]", "0.25", "\"rope\"",
                              "\"medium\"", "\"normed-residual\"", "\"none\"", "\"copy\"", "\"gpt2\"", "\"constant\"",
                              "\"matrices\"", "\"valid\"", "\"false\"", "\"true\""}) {
      try {
        key.set(value);
        changed = key.get() != before;
        if (changed) break;
      } catch (const std::invalid_argument&) {
      }
    }
    EXPECT_TRUE(changed) << key.name;
  }
  const std::string text = ConfigToml(config);
  EXPECT_EQ(ConfigToml(Parse(text)), text);
  EXPECT_NE(text, ConfigToml(RunConfig()));
}

TEST(RunConfig, NamesOfKeysAreUnique) {
  RunConfig config;
  std::set<std::string> names;
  for (const ConfigKey& key : ConfigKeys(config)) EXPECT_TRUE(names.insert(key.name).second) << key.name;
}

TEST(RunConfig, OverridesComeLastAndNeedNoQuotes) {
  const RunConfig config = Parse("[train]\nlr = 0.5\n[model]\nattention = \"tra\"\n",
                                 {"train.lr=1e-3", "model.attention=rope", "data.lengths=[2, 9]", "label=a b=c"});
  EXPECT_EQ(config.train.lr, 1e-3);
  EXPECT_EQ(config.model.attention, "rope");
  EXPECT_EQ(config.data.lengths, (std::vector<int64_t>{2, 9}));
  EXPECT_EQ(config.label, "a b=c");
}

TEST(RunConfig, APresetComesFirstWhereverItStands) {
  const RunConfig config = Parse("[model]\nheads = 2\npreset = \"medium\"\n");
  EXPECT_EQ(config.model.layers, 8);
  EXPECT_EQ(config.model.width, 512);
  EXPECT_EQ(config.model.heads, 2);
}

TEST(RunConfig, IntegersServeAsNumbers) { EXPECT_EQ(Parse("[train]\nclip = 1\n").train.clip, 1.0); }

TEST(RunConfig, ErrorsNameTheKeyTheRangeAndTheNearest) {
  EXPECT_EQ(Error("[train]\nlearning_rate = 1\n"), "x.toml: unknown key 'train.learning_rate'; see tra list --keys");
  EXPECT_EQ(Error("[train]\nstep = 1\n"),
            "x.toml: unknown key 'train.step'; did you mean 'train.steps'? See tra list --keys");
  EXPECT_EQ(Error("", {"modle.attention=tra"}),
            "x.toml: unknown key 'modle.attention'; did you mean 'model.attention'? See tra list --keys");
  EXPECT_EQ(Error("[train]\nsteps = 0\n"), "x.toml: train.steps must be an integer from 1 to 1000000000, got 0");
  EXPECT_EQ(Error("[train]\nsteps = 1.5\n"), "x.toml: train.steps must be an integer from 1 to 1000000000, got 1.5");
  EXPECT_EQ(Error("[train]\nlr = \"high\"\n"), "x.toml: train.lr must be a number of at least 0.0, got \"high\"");
  EXPECT_EQ(Error("[train]\nlr = nan\n"), "x.toml: train.lr must be a number of at least 0.0, got nan");
  EXPECT_EQ(Error("[train]\nseed = -1\n"), "x.toml: train.seed must be an integer of at least 0, got -1");
  EXPECT_EQ(Error("[model]\nmlp_dropout = 1.0\n"), "x.toml: model.mlp_dropout must be a number in [0.0, 1.0), got 1.0");
  EXPECT_NE(Error("[model]\nattention = \"sliding\"\n").find("model.attention must be one of \"nope\""),
            std::string::npos);
  EXPECT_EQ(Error("[train]\nschedule = \"cosin\"\n"),
            "x.toml: train.schedule must be one of \"cosine\", \"constant\", got \"cosin\"; did you mean 'cosine'?");
  EXPECT_NE(Error("[data]\nlengths = [9, 2]\n").find("data.lengths must be [] or [low, high]"), std::string::npos);
  EXPECT_EQ(Error("[eval]\nsplits = [\"iid\", \"iid\"]\n"),
            "x.toml: eval.splits must be a list of splits, none of them twice, got [ \"iid\", \"iid\" ]");
  EXPECT_NE(Error("[eval]\nwindows = [8, 8]\n").find("none of them twice"), std::string::npos);
  EXPECT_NE(Error("[train]\nextended = [[4, 8], [4, 9]]\n").find("train.extended must be [] or [["), std::string::npos);
  EXPECT_EQ(Error("[train\n").substr(0, 9), "x.toml:1:");
  EXPECT_NE(Error("", {"train.lr"}).find("--set needs key=value"), std::string::npos);
}

TEST(RunConfig, ModelsTakeTheirLengthsFromTheDataUnlessTold) {
  const ModelConfig model = MakeModelConfig(Parse(""), 6, 511, 700);
  EXPECT_EQ(model.vocabulary, 6);
  EXPECT_EQ(model.train_length, 511);
  EXPECT_EQ(model.max_length, 700);
  EXPECT_FALSE(model.qk_norm.has_value());
  const ModelConfig told = MakeModelConfig(
      Parse("[model]\nmax_length = 9000\nqk_norm = \"false\"\nblock = \"normed-residual\"\n"), 6, 511, 700);
  EXPECT_EQ(told.max_length, 9000);
  EXPECT_EQ(told.qk_norm, false);
  EXPECT_EQ(told.block, Block::kNormedResidual);
}

TEST(RunConfig, LabelsAreMoreThanPositionsOrTheyWouldBeApe) {
  const auto longest = [](const char* attention) {
    return MakeModelConfig(Parse("[model]\nattention = \"" + std::string(attention) + "\"\n"), 6, 511, 511).max_length;
  };
  EXPECT_EQ(longest("ape"), 511);
  EXPECT_EQ(longest("label"), 1022);
}

TEST(RunConfig, StringsNeedNoQuotesWhateverTheyLookLike) {
  const RunConfig config = ParseConfig("[model]\nqk_norm = true\n", {"label=7", "data.corpus=2024-01-01"}, "test");
  EXPECT_EQ(config.model.qk_norm, true);
  EXPECT_EQ(config.label, "7");
  EXPECT_EQ(config.data.corpus, "2024-01-01");
  EXPECT_THROW(ParseConfig("", {"model.attention=7"}, "test"), std::invalid_argument);
}

TEST(RunConfig, APresetOnTheCommandLineHasItsOwnSizes) {
  const char* file = "[model]\nlayers = 2\nwidth = 64\n";
  const RunConfig config = ParseConfig(file, {"model.heads=2", "model.preset=medium"}, "test");
  EXPECT_EQ(config.model.layers, 8);
  EXPECT_EQ(config.model.width, 512);
  EXPECT_EQ(config.model.heads, 2);
}

TEST(RunConfig, EveryFileInConfigsIsOne) {
  namespace fs = std::filesystem;
  int configs = 0, sweeps = 0;
  for (const auto& each : fs::recursive_directory_iterator(TRA_CONFIGS)) {
    if (each.path().extension() != ".toml") continue;
    const std::string path = each.path().string();
    if (each.path().parent_path().filename() == "sweeps") {
      EXPECT_FALSE(ReadSweep(path).runs.empty()) << path;
      ++sweeps;
    } else {
      const RunConfig config = ReadConfig(path);
      if (config.data.task != "text") {
        const RunData data(config);
        EXPECT_NO_THROW(MakeModelConfig(config, data.Vocabulary(), data.TrainLength(), data.Longest())) << path;
      }
      ++configs;
    }
  }
  EXPECT_GE(configs, 2);
  EXPECT_GE(sweeps, 1);
}

TEST(RunConfig, NumbersAreBounded) {
  EXPECT_EQ(Error("", {"model.layers=1000000000"}),
            "x.toml: model.layers must be an integer from 1 to 4096, got 1000000000");
  EXPECT_NE(Error("", {"model.layers=1e9"}), "no error");
  EXPECT_NE(Error("", {"model.layers=99999999999999999999"}), "no error");
  EXPECT_NE(Error("", {"train.batch=9223372036854775807"}), "no error");
  EXPECT_NE(Error("", {"eval.windows=[9223372036854775807]"}), "no error");
}

TEST(RunConfig, LongStrangeValuesAreNotRepeatedInFull) {
  EXPECT_LT(Error("[model]\nattention = \"" + std::string(1'000'000, 'x') + "\"\n").size(), 500u);
  EXPECT_LT(Error("\"" + std::string(1'000'000, 'x') + "\" = 1\n").size(), 500u);
}

TEST(RunConfig, LabelsHaveNoControlCharactersAndStayInTheirFolder) {
  for (const char* label : {"a\nb", "a\x7f", "a\x1b[31m", "\xff"}) {
    EXPECT_NE(Error("", {std::string("label=") + label}), "no error") << label;
  }
  EXPECT_NE(Error("label = \"a\\nb\"\n"), "no error");
  EXPECT_EQ(DefaultRunName(Parse("label = \"x/../../../escaped\"\n")), "runs/flipflop-tra-x-..-..-..-escaped-s1");
}

TEST(RunConfig, StringsOfAnyCharacterSurviveTheResolvedFile) {
  const RunConfig config = Parse("[data]\ncorpus = \"a\\u007F\\n\\\"\\\\\\u0001\\u0085'\"\n");
  EXPECT_EQ(config.data.corpus, "a\x7F\n\"\\\x01\xC2\x85'");
  EXPECT_EQ(Parse(ConfigToml(config)).data.corpus, config.data.corpus);
}

TEST(RunConfig, AnOverrideSetsOneKeyOnly) { EXPECT_EQ(Parse("", {"data.corpus=1\ny = 2"}).data.corpus, "1\ny = 2"); }

std::string SlurmError(const std::string& file, const std::string& folder, const std::string& time) {
  Sweep sweep;
  sweep.file = file;
  sweep.folder = folder;
  sweep.runs.resize(2);
  SlurmOptions options;
  options.time = time;
  try {
    SlurmScript(sweep, "/bin/tra", options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Slurm, NothingInAScriptCanBecomeACommand) {
  EXPECT_EQ(SlurmError("a.toml", "runs/a", "2-00:00:00"), "no error");
  EXPECT_EQ(SlurmError("a.toml", "runs/a", "1:00\ntouch owned").find("--time must be a time of Slurm's"), 0u);
  EXPECT_EQ(SlurmError("a\ntouch owned\n.toml", "runs/a", "1:00").find("a touch owned .toml: has a line break"), 0u);
  EXPECT_EQ(SlurmError("a.toml", "runs/\ntouch owned", "1:00").find("runs/ touch owned: has a line break"), 0u);
  EXPECT_NE(SlurmError("a.toml", "runs/\" --wrap=x", "1:00"), "no error");
}

TEST(Slurm, FoldersWithSpacesArePartOfOneOption) {
  Sweep sweep;
  sweep.file = "my sweep.toml";
  sweep.folder = "my 100% runs";
  sweep.overrides = {"label=it's\n$(touch owned)"};
  sweep.runs.resize(2);
  const std::string script = SlurmScript(sweep, "/bin/my tra", {});
  for (const std::string part :
       {"#SBATCH --job-name=\"tra-my sweep\"\n", "#SBATCH --output=\"my 100%% runs/slurm-%A_%a.log\"\n",
        "exec '/bin/my tra' sweep 'my sweep.toml' ", " --set 'label=it'\\''s\n$(touch owned)'\n"}) {
    EXPECT_NE(script.find(part), std::string::npos) << script;
  }
}

}  // namespace
}  // namespace tra
