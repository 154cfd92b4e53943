#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/cli/run.h"
#include "tra/base/names.h"
#include "tra/tasks/task.h"

namespace tra {
namespace {

using Words = std::vector<std::string>;

// Runs a command of the shell and returns what it prints, errors too.
std::string Shell(const std::string& command) {
  const TemporaryDirectory directory;
  const int status = std::system(("{ " + command + "; } >" + (directory / "out") + " 2>&1").c_str());
  return ReadBytes(directory / "out") + (status == 0 ? "" : "(failed)");
}

bool Has(const std::string& program) { return Shell("command -v " + program + " >/dev/null && echo yes") == "yes\n"; }

Words Lines(const std::string& text) {
  std::istringstream stream(text);
  Words lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns what bash offers after a line of which `before` is typed.
class Bash : public ::testing::Test {
 protected:
  Bash() {
    static const std::string script = RunTra("completion bash").out;
    std::ofstream(script_) << script;
  }

  Words Offered(const std::string& before) const {
    const std::string run = directory_ / "run";
    std::ofstream(run) << "source '" << script_ << "'\nCOMP_LINE='" << before << "'\n"
                       << "COMP_POINT=${#COMP_LINE}\n_tra\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    Words words = Lines(Shell("cd '" + (directory_ / "") + "' && bash '" + run + "'"));
    if (words == Words{""}) words.clear();  // printf prints an empty line for nothing
    return words;
  }
  bool Offers(const std::string& before, const std::string& word) const {
    const Words words = Offered(before);
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  TemporaryDirectory directory_;
  const std::string script_ = directory_ / "script";
};

TEST_F(Bash, OffersCommandsAndThoseBelowThem) {
  EXPECT_EQ(Offered("tra tr"), Words{"train"});
  EXPECT_EQ(Offered("tra data "), (Words{"show", "export", "import", "prepare", "learn-bpe", "window"}));
  EXPECT_EQ(Offered("tra data sh"), Words{"show"});
  EXPECT_TRUE(Offers("tra ", "completion"));
  EXPECT_EQ(Offered("tra --vers"), Words{"--version"});
}

TEST_F(Bash, OffersEveryOptionThatHelpShows) {
  for (const std::string command : {"train", "generate", "data show"}) {
    const Words options = Offered("tra " + command + " --");
    for (const std::string& line : Lines(RunTra(command + " --help").out)) {
      const size_t at = line.find("--");
      if (line.rfind("  -", 0) != 0 || at == std::string::npos) continue;
      const std::string name = line.substr(at, line.find_first_of(" ,{", at) - at);
      EXPECT_NE(std::find(options.begin(), options.end(), name), options.end()) << command << " " << name;
    }
  }
}

TEST_F(Bash, OffersTheValuesOfATable) {
  Words tasks = NamesIn(Tasks());
  tasks.emplace_back("jsonl");
  EXPECT_EQ(Offered("tra data show "), tasks);
  EXPECT_EQ(Offered("tra data show fl"), (Words{"flipflop", "flipflop++"}));
  EXPECT_EQ(Offered("tra table --format la"), Words{"latex"});
  EXPECT_EQ(Offered("tra table --format=la"), Words{"latex"});
  EXPECT_EQ(Offered("tra data show flipflop --split sp"), Words{"sparse"});
  EXPECT_EQ(Offered("tra completion "), (Words{"bash", "zsh", "fish"}));
}

TEST_F(Bash, OffersKeysAndTheirValues) {
  EXPECT_EQ(Offered("tra train --set train.war"), Words{"train.warmup="});
  // Only what follows the = is replaced.
  EXPECT_EQ(Offered("tra train --set model.attention=r"), (Words{"rel", "rope"}));
  EXPECT_EQ(Offered("tra train x.toml --set a=b --set data.task=js"), Words{"jsonl"});
}

TEST_F(Bash, OffersFilesWhereAPathIsWantedAndNothingWhereANumberIs) {
  std::ofstream(directory_ / "my config.toml") << "";
  EXPECT_EQ(Offered("tra train my"), Words{"my config.toml"});
  EXPECT_EQ(Offered("tra train --run scr"), Words{"script"});
  EXPECT_EQ(Offered("tra train --threads scr"), Words{});
  EXPECT_EQ(Offered("tra generate scr --prompt scr"), Words{});
}

TEST(Completion, OtherShellsAcceptTheirScripts) {
  const TemporaryDirectory directory;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Result script = RunTra("completion " + std::string(shell));
    EXPECT_EQ(script.code, 0) << script.err;
    EXPECT_TRUE(Contains(script.out, "learn-bpe")) << shell;
    EXPECT_TRUE(Contains(script.out, "model.attention=tra")) << shell;
    if (!Has(shell)) continue;
    std::ofstream(directory / shell) << script.out;
    EXPECT_EQ(Shell(std::string(shell) + " -n '" + (directory / shell) + "'"), "") << shell;
  }
  const Result unknown = RunTra("completion csh");
  EXPECT_EQ(unknown.code, 2);
}

TEST(Completion, FishOffersWhatBashOffers) {
  if (!Has("fish")) GTEST_SKIP() << "fish is not installed";
  const TemporaryDirectory directory;
  std::ofstream(directory / "tra.fish") << RunTra("completion fish").out;
  const auto offered = [&](const std::string& before) {
    Words words;
    for (const std::string& line :
         Lines(Shell("fish -c 'source " + (directory / "tra.fish") + "; complete -C \"" + before + "\"'"))) {
      words.push_back(line.substr(0, line.find('\t')));
    }
    return words;
  };
  EXPECT_EQ(offered("tra tr"), Words{"train"});
  EXPECT_EQ(offered("tra data sh"), Words{"show"});
  EXPECT_EQ(offered("tra data show fl"), (Words{"flipflop", "flipflop++"}));
  EXPECT_EQ(offered("tra train --set model.attention=ro"), Words{"model.attention=rope"});
  EXPECT_EQ(offered("tra table --form"), Words{"--format"});
}

TEST(ManualPage, HasEveryCommandAndNoWarnings) {
  const Result page = RunTra("man");
  ASSERT_EQ(page.code, 0) << page.err;
  for (const char* heading : {".TH TRA 1", ".SH NAME", ".SS tra train\n", ".SS tra data learn\\-bpe\n", "\\-\\-set"}) {
    EXPECT_TRUE(Contains(page.out, heading)) << heading;
  }
  const TemporaryDirectory directory;
  std::ofstream(directory / "tra.1") << page.out;
  const std::string file = "'" + (directory / "tra.1") + "'";
  if (Has("groff")) {
    EXPECT_EQ(Shell("groff -man -ww -z -K utf8 " + file), "");
    const std::string shown = Shell("groff -man -Tascii -P-cbou -rLL=500n -K utf8 " + file);
    EXPECT_TRUE(Contains(shown, "tra data show flipflop --split sparse --index 17")) << shown;
  }
  if (Has("man")) {
    EXPECT_EQ(Shell("LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z " + file + " >/dev/null"), "");
  }
}

}  // namespace
}  // namespace tra
