#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/process.h"
#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

class Sweeping : public testing::Test {
 protected:
  Sweeping() {
    std::ofstream(directory / "tiny.toml") << "[model]\nlayers = 1\nheads = 2\nwidth = 16\n[data]\ntask = \"copy\"\n"
                                              "lengths = [1, 5]\n[train]\nsteps = 6\nbatch = 8\n"
                                              "[eval]\nsplits = [\"iid\"]\nexamples = 20\n";
    Write("attentions = [\"tra\", \"rope\"]\nseeds = [1, 2]\n");
  }

  void Write(const std::string& what) const {
    std::ofstream(directory / "sweep.toml")
        << "configs = [\"tiny.toml\"]\nfolder = \"" << (directory / "runs") << "\"\n"
        << what;
  }
  Result Sweep(const std::string& more = "") const {
    return RunTra("sweep " + (directory / "sweep.toml") + " " + more);
  }
  std::string At(const std::string& name) const { return directory / ("runs/" + name); }
  // Makes a run that a sweep takes for done, without training it.
  void PretendDone(const std::string& name) const {
    fs::create_directories(At(name));
    std::ofstream(At(name) + "/DONE") << "all steps taken\n";
  }

  TemporaryDirectory directory;
};

// Says whether a line that begins with a run's name has all of `parts`, in this order.
bool SaysOf(const std::string& text, const std::string& run, const std::vector<std::string>& parts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(run + " ", 0) != 0) continue;
    size_t at = 0;
    for (const std::string& part : parts) at = at == std::string::npos ? at : line.find(part, at);
    if (at != std::string::npos) return true;
  }
  return false;
}

// Returns all that a command shows on a terminal of this size; nothing if there are no pseudo-terminals, as in a bare
// chroot.
std::optional<std::string> OnTerminal(const std::string& command, unsigned short rows, unsigned short columns) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return std::nullopt;
  const char* const name = ptsname(terminal);
  const int side = name == nullptr ? -1 : open(name, O_RDWR | O_NOCTTY);
  if (side < 0) return std::nullopt;
  winsize size{};
  size.ws_row = rows;
  size.ws_col = columns;
  ioctl(side, TIOCSWINSZ, &size);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(side, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(side);
  std::string all;
  char part[4096];
  for (ssize_t got = 0; (got = read(terminal, part, sizeof(part))) > 0;) all.append(part, static_cast<size_t>(got));
  close(terminal);
  waitpid(pid, nullptr, 0);
  return all;
}

TEST_F(Sweeping, RunsEveryCombinationOnce) {
  const Result result = Sweep("--jobs 2");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.err, "4 of 4 runs done, 0 failed")) << result.err;
  for (const char* run : {"tiny-tra-s1", "tiny-tra-s2", "tiny-rope-s1", "tiny-rope-s2"}) {
    EXPECT_TRUE(fs::exists(At(run) + "/DONE")) << run;
  }
  // A run's line says how it ended; a table sums up at the end.
  EXPECT_TRUE(SaysOf(result.err, "tiny-rope-s2", {"done", "step 6/6, loss ", "exact match: iid ", "%"})) << result.err;
  EXPECT_TRUE(Contains(result.out, "summary: copy: exact match, %; mean ± std over seeds, n=2\n")) << result.out;
  EXPECT_TRUE(Contains(result.out, "\n| RoPE | ")) << result.out;
  EXPECT_TRUE(Contains(result.out, " of 2 [")) << result.out;
  const auto before = fs::last_write_time(At("tiny-tra-s1/results.json"));
  EXPECT_EQ(Sweep().code, 0);  // all skipped
  EXPECT_EQ(fs::last_write_time(At("tiny-tra-s1/results.json")), before);

  const Result table = RunTra("table " + (directory / "runs") + " --table all");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(Contains(table.out, "|  | RoPE | TRA |")) << table.out;
  EXPECT_TRUE(Contains(table.out, "n=2")) << table.out;
  EXPECT_EQ(RunTra("table " + (directory / "sweep.toml") + " --table all").out, table.out);
}

TEST_F(Sweeping, SettingsAreAllCombinationsOfTheGridForEachVariant) {
  Write(
      "attentions = [\"tra\"]\nseeds = [1, 2]\n[grid]\n\"train.lr\" = [1e-3, 0.003]\n\"model.block\" = "
      "[\"prenorm\"]\n[variants]\n\"as it is\" = []\n\"no dropout\" = [\"model.attention_dropout=0\"]\n");
  EXPECT_EQ(Sweep("--list").out,
            "0  tiny-tra-as-it-is-block=prenorm-lr=0.001-s1\n"
            "1  tiny-tra-as-it-is-block=prenorm-lr=0.001-s2\n"
            "2  tiny-tra-as-it-is-block=prenorm-lr=0.003-s1\n"
            "3  tiny-tra-as-it-is-block=prenorm-lr=0.003-s2\n"
            "4  tiny-tra-no-dropout-block=prenorm-lr=0.001-s1\n"
            "5  tiny-tra-no-dropout-block=prenorm-lr=0.001-s2\n"
            "6  tiny-tra-no-dropout-block=prenorm-lr=0.003-s1\n"
            "7  tiny-tra-no-dropout-block=prenorm-lr=0.003-s2\n");
  const Result result = Sweep("--jobs 2");
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string config = ReadBytes(At("tiny-tra-no-dropout-block=prenorm-lr=0.003-s2/config.toml"));
  for (const char* line : {"label = \"no dropout, block=prenorm, lr=0.003\"", "\nlr = 0.003 ", "\nseed = 2 ",
                           "\nattention_dropout = 0.0"}) {
    EXPECT_TRUE(Contains(config, line)) << line << config;
  }
  const Result table = RunTra("table " + At("") + " --table solved");
  EXPECT_TRUE(Contains(table.out, "| TRA (as it is, block=prenorm, lr=0.001) |")) << table.out;
  EXPECT_TRUE(Contains(table.out, " of 2 [")) << table.out;
}

TEST_F(Sweeping, AnAttentionMayHaveChangesOfItsOwn) {
  Write(
      "attentions = [\"tra\", \"rope\"]\nseeds = [1]\nset = [\"train.lr=0.001\"]\n"
      "[for_attention]\nrope = [\"train.lr=0.003\"]\n");
  const Result result = Sweep();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(ReadBytes(At("tiny-tra-s1/config.toml")), "\nlr = 0.001 "));
  EXPECT_TRUE(Contains(ReadBytes(At("tiny-rope-s1/config.toml")), "\nlr = 0.003 "));
}

TEST_F(Sweeping, AFailedRunDoesNotStopTheRest) {
  const std::string tiny = ReadBytes(directory / "tiny.toml");
  const auto write_bad = [&](const std::string& more) {
    std::ofstream(directory / "bad.toml") << std::string(tiny).insert(tiny.find("batch = 8\n"), more);
  };
  write_bad("lr = 1e30\n");
  std::ofstream(directory / "sweep.toml")
      << "configs = [\"bad.toml\", \"tiny.toml\"]\nseeds = [1]\nfolder = \"" << At("") << "\"\n";
  const Result result = Sweep();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(Contains(result.err, "1 of 2 runs done, 1 failed")) << result.err;
  EXPECT_TRUE(Contains(ReadBytes(At("bad-tra-s1/FAILED")), "the loss is")) << ReadBytes(At("bad-tra-s1/FAILED"));
  EXPECT_TRUE(SaysOf(result.err, "bad-tra-s1", {"failed", "the loss is", "lower train.lr"})) << result.err;
  EXPECT_TRUE(fs::exists(At("tiny-tra-s1/DONE")));
  write_bad("");
  EXPECT_EQ(Sweep().code, 0);  // and is tried again
  EXPECT_FALSE(fs::exists(At("bad-tra-s1/FAILED")));
}

TEST_F(Sweeping, ARunThatCannotSayWhyItFailedIsDescribed) {
  Write("seeds = [1]\n");
  fs::create_directories(At(""));
  std::ofstream(At("tiny-tra-s1.log")) << "of an attempt before\n";
  // Limits files to 4 KiB, which those of a run exceed: the kernel ends it at once.
  const std::string sweep = "sweep " + (directory / "sweep.toml");
  const Result killed = RunTra(sweep, "", "ulimit -f 8; ");
  EXPECT_EQ(killed.code, 1);
  EXPECT_TRUE(Contains(killed.err, "failed  killed by signal " + std::to_string(SIGXFSZ) + " (")) << killed.err;
  EXPECT_TRUE(Contains(killed.err, "(log: " + At("tiny-tra-s1.log") + ")")) << killed.err;
  EXPECT_FALSE(Contains(killed.err, "an attempt before")) << killed.err;

  fs::remove_all(At("tiny-tra-s1"));
  std::ofstream(At("tiny-tra-s1")) << "a file where a folder should be";
  const Result refused = RunTra(sweep);
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(Contains(refused.err, "failed  exit code 1: tra: " + At("tiny-tra-s1") + ": cannot be created"))
      << refused.err;
  EXPECT_TRUE(Contains(refused.err, "(log: " + At("tiny-tra-s1.log") + ")")) << refused.err;
}

TEST_F(Sweeping, ARunOfAnotherConfigurationDoesNotCount) {
  Write("seeds = [1]\n");
  ASSERT_EQ(Sweep().code, 0);
  const auto expect_refused = [&](const std::string& more) {
    const Result result = Sweep("--set train.steps=7 " + more);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(Contains(result.err, At("tiny-tra-s1") + ": holds a run of another configuration: "
                                                         "train.steps (7, was 6); name another folder in "))
        << result.err;
    EXPECT_TRUE(Contains(result.err, "or move that run away")) << result.err;
  };
  expect_refused("");
  expect_refused("--slurm " + (directory / "job.sh"));
  EXPECT_FALSE(fs::exists(directory / "job.sh"));
  const Result list = Sweep("--set train.steps=7 --list");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_EQ(list.out, "0  tiny-tra-s1  other configuration: train.steps (7, was 6)\n");

  fs::remove(At("tiny-tra-s1/DONE"));
  expect_refused("");  // because of its checkpoints
  EXPECT_TRUE(fs::exists(At("tiny-tra-s1/checkpoints/step-6")));

  fs::remove_all(At("tiny-tra-s1/checkpoints"));
  EXPECT_EQ(Sweep("--set train.steps=7 --list").out, "0  tiny-tra-s1\n");
  EXPECT_EQ(Sweep("--set train.steps=7").code, 0);  // the other run has nothing saved any more
  EXPECT_TRUE(fs::exists(At("tiny-tra-s1/checkpoints/step-7")));
}

TEST_F(Sweeping, StoppedItEndsWithItsOwnCodeAndNoRunFails) {
  Write("seeds = [1, 2]\nset = [\"train.steps=1000000\"]\n");
  // Signals come while the run loads, before it catches them, and while it trains.
  const std::vector<std::pair<int, std::string>> moments = {
      {SIGTERM, "tiny-tra-s1.log"}, {SIGINT, "tiny-tra-s1.log"}, {SIGTERM, "tiny-tra-s1/metrics.jsonl"}};
  for (const auto& [signal, file] : moments) {
    fs::remove_all(At(""));
    const std::string said = directory / "said";
    const Process sweep("sweep " + (directory / "sweep.toml") + " --threads 1", "", said);
    ASSERT_TRUE(WaitFor(At(file))) << ReadBytes(said);
    sweep.Kill(signal);
    EXPECT_EQ(sweep.Wait(), 3) << ReadBytes(said);
    EXPECT_TRUE(SaysOf(ReadBytes(said), "tiny-tra-s1", {"stopped"})) << ReadBytes(said);
    EXPECT_TRUE(Contains(ReadBytes(said), "0 of 2 runs done, 0 failed; stopped")) << ReadBytes(said);
    EXPECT_FALSE(fs::exists(At("tiny-tra-s1/FAILED")));
    EXPECT_FALSE(fs::exists(At("tiny-tra-s2")));
  }
}

TEST_F(Sweeping, KilledItTakesItsRunAlongAndTheNextOneGoesOn) {
  Write("seeds = [1]\nset = [\"train.steps=1000000\", \"train.checkpoint_every=1000000\"]\n");
  const Process sweep("sweep " + (directory / "sweep.toml") + " --threads 1");
  ASSERT_TRUE(WaitFor(At("tiny-tra-s1/metrics.jsonl")));
  sweep.Kill(SIGKILL);
  EXPECT_EQ(sweep.Wait(), -SIGKILL);
  ASSERT_TRUE(WaitFor(At("tiny-tra-s1/checkpoints/latest")));  // its run saves and ends
  const std::string said = directory / "said";
  const Process next("sweep " + (directory / "sweep.toml") + " --threads 1", "", said);
  for (int i = 0; i < 3000 && !SaysOf(ReadBytes(said), "tiny-tra-s1", {"running"}); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  next.Kill(SIGTERM);
  EXPECT_EQ(next.Wait(), 3) << ReadBytes(said);
  EXPECT_TRUE(SaysOf(ReadBytes(said), "tiny-tra-s1", {"stopped"})) << ReadBytes(said);
}

TEST_F(Sweeping, ARunThatAnotherProcessTrainsIsNamedAsThat) {
  const std::string set = "train.steps=1000000";
  Write("seeds = [1]\nset = [\"" + set + "\"]\n");
  const Process other("train " + (directory / "tiny.toml") + " --threads 1 --set " + set + " --run " +
                      At("tiny-tra-s1"));
  ASSERT_TRUE(WaitFor(At("tiny-tra-s1/metrics.jsonl")));
  const Result result = Sweep();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(SaysOf(result.err, "tiny-tra-s1", {"failed", "another process is training in " + At("tiny-tra-s1")}))
      << result.err;
  other.Kill(SIGTERM);
  EXPECT_EQ(other.Wait(), 3);
}

TEST_F(Sweeping, OptionsMayStandBeforeTheFile) {
  const std::string file = directory / "sweep.toml";
  const Result list = RunTra("sweep --set train.steps=6 --set train.batch=4 " + file + " --list");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_TRUE(Contains(list.out, "3  tiny-rope-s2\n")) << list.out;
  const Result bad = RunTra("sweep --set train.steps=6 --set train.batc=4 " + file + " --list");
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(Contains(bad.err, "did you mean 'train.batch'?")) << bad.err;
}

TEST_F(Sweeping, TheTableFitsTheTerminal) {
  constexpr int kRuns = 30, kRows = 6, kColumns = 40;
  std::string seeds = "1";
  for (int seed = 2; seed <= kRuns; ++seed) {
    seeds += ", " + std::to_string(seed);
    PretendDone("tiny-tra-s" + std::to_string(seed));
  }
  Write("seeds = [" + seeds + "]\n");
  std::ofstream(At("tiny-tra-s1")) << "a file where a folder should be";
  const std::string command = "'" TRA_PROGRAM "' sweep " + (directory / "sweep.toml");
  const auto seen = OnTerminal(command, kRows, kColumns);
  if (!seen) GTEST_SKIP() << "there are no pseudo-terminals here";
  const std::string& shown = *seen;
  EXPECT_TRUE(Contains(shown, "30 runs: 29 done, 1 running")) << shown;
  EXPECT_TRUE(Contains(shown, "30 runs: 29 done, 1 failed")) << shown;
  EXPECT_FALSE(Contains(shown, "tiny-tra-s2")) << shown;
  EXPECT_TRUE(Contains(shown, "cannot be created")) << shown;  // in full, below the table

  const std::string table = shown.substr(0, shown.find("tra: "));
  // Goes line by line, without the codes that move the cursor: ESC [ number letter.
  std::string line;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i] == '\033') {
      const size_t letter = table.find_first_not_of("[0123456789", i + 1);
      ASSERT_NE(letter, std::string::npos);
      if (table[letter] == 'A') {  // up
        EXPECT_LT(std::stoi(table.substr(i + 2)), kRows);
      }
      i = letter;
    } else if (table[i] == '\n') {
      EXPECT_LT(line.size(), static_cast<size_t>(kColumns)) << line;
      line.clear();
    } else if (table[i] != '\r') {
      line += table[i];
    }
  }
}

TEST_F(Sweeping, TheTableSaysHowLongARunStillTakes) {
  Write("attentions = [\"tra\"]\nseeds = [1]\nset = [\"train.steps=1000000\", \"train.log_every=1\"]\n");
  const std::string sweep = "'" TRA_PROGRAM "' sweep " + (directory / "sweep.toml") + " --threads 1";
  // Stops the sweep once some steps have been logged, and leaves time for the table to be drawn again.
  const auto seen =
      OnTerminal("(until [ \"$(wc -l <" + At("tiny-tra-s1/metrics.jsonl") +
                     " 2>/dev/null || echo 0)\" -gt 5 ]; do sleep 0.1; done; sleep 1; kill $$) & exec " + sweep,
                 24, 120);
  if (!seen) GTEST_SKIP() << "there are no pseudo-terminals here";
  const std::regex running("tiny-tra-s1 +running  step [0-9]+/1000000, loss [0-9.]+, [0-9:]+ left");
  EXPECT_TRUE(std::regex_search(*seen, running)) << *seen;
}

TEST_F(Sweeping, HelpShowsASweepOverKeys) {
  const Result help = RunTra("sweep --help");
  EXPECT_TRUE(Contains(help.out, "[grid] ")) << help.out;
  EXPECT_TRUE(Contains(help.out, "\"train.lr\" = [3e-4, 1e-3]")) << help.out;
}

TEST_F(Sweeping, AnIndexIsOneRunAsAJobArrayMakesIt) {
  const std::string script = directory / "job.sh";
  ASSERT_EQ(Sweep("--slurm " + script + " --threads 1 --time 1:00:00").code, 0);
  const std::string text = ReadBytes(script);
  EXPECT_TRUE(Contains(text, "#SBATCH --array=0-3\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --cpus-per-task=1\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --time=1:00:00\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --signal=B:TERM@120\n")) << text;
  EXPECT_FALSE(Contains(text, "gpu")) << text;
  // Does what Slurm would do for index 2.
  ASSERT_EQ(std::system(("SLURM_ARRAY_TASK_ID=2 SLURM_CPUS_PER_TASK=1 sh " + script + " 2>/dev/null").c_str()), 0);
  EXPECT_TRUE(fs::exists(At("tiny-rope-s1/DONE")));
  EXPECT_FALSE(fs::exists(At("tiny-tra-s1")));
  EXPECT_TRUE(Contains(Sweep("--list").out, "2  tiny-rope-s1  done")) << Sweep("--list").out;

  ASSERT_EQ(Sweep("--slurm " + script + " --device cuda").code, 0);  // no GPU is needed to write the script
  EXPECT_TRUE(Contains(ReadBytes(script), "#SBATCH --gres=gpu:1\n")) << ReadBytes(script);
  EXPECT_TRUE(Contains(ReadBytes(script), " --device cuda\n")) << ReadBytes(script);

  EXPECT_TRUE(Contains(Sweep("--slurm " + script + " --device cuda:1").err, "its own GPU; use cuda"));

  fs::remove_all(At("tiny-rope-s1"));  // it was trained without a label
  ASSERT_EQ(Sweep("--slurm " + script + " --set \"label=it's\"").code, 0);
  ASSERT_EQ(std::system(("SLURM_ARRAY_TASK_ID=1 SLURM_CPUS_PER_TASK=1 sh " + script + " 2>/dev/null").c_str()), 0);
  EXPECT_TRUE(Contains(ReadBytes(At("tiny-tra-s2/config.toml")), "label = \"it's\" "));
}

TEST_F(Sweeping, BadSweepsAreRefusedBeforeAnythingRuns) {
  const auto expect = [&](const std::string& what, const std::string& said) {
    Write(what);
    const Result result = Sweep();
    EXPECT_EQ(result.code, 2) << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect("seeds = [1]\nattention = [\"tra\"]\n", "unknown key 'attention'; did you mean 'attentions'?");
  expect("seeds = []\n", "seeds must have at least one integer");
  expect("seeds = [1.5]\n", "seeds must be a list of integers");
  expect("seeds = [1, 1]\n", "two runs are called tiny-tra-s1");
  expect("seeds = [1]\nattentions = [\"tra\", \"sliding\"]\n", "model.attention must be one of");
  expect("seeds = [1]\nset = [\"train.step=3\"]\n", "did you mean 'train.steps'?");
  expect("seeds = [1]\nset = [\"train.step", "sweep.toml:4: ");
  expect("seeds = [1]\nset = [\"data.task=text\"]\n", "--set data.corpus=FOLDER");
  expect("seeds = [1]\nattentions = [\"tra\", \"rope\"]\nset = [\"model.width=6\"]\n", "rope turns pairs of channels");
  expect("seeds = [1]\nattentions = [\"tra\"]\n[for_attention]\nrope = []\n",
         "for_attention: unknown attention 'rope'; ");
  expect("seeds = [1]\nattentions = [\"tra\"]\n[for_attention]\ntra = 3\n", "for_attention: tra must be a list of");
  expect("seeds = [1]\ngrid = 3\n", "grid must be a table: [grid]");
  expect("seeds = [1]\n[grid]\ntrain.lr = [1]\n", "grid: train must be in quotes: \"train.key\" = [...]");
  expect("seeds = [1]\n[grid]\n\"train.lr\" = 1\n", "grid: train.lr must be a list of values");
  expect("seeds = [1]\n[grid]\n\"train.lrr\" = [1]\n", "did you mean 'train.lr'?");
  expect("seeds = [1]\n[grid]\n\"train.seed\" = [1]\n", "grid: seeds are listed under seeds");
  expect("seeds = [1]\n[grid]\n\"model.attention\" = [\"tra\"]\n", "grid: attentions are listed under attentions");
  expect("seeds = [1]\n[grid]\n\"model.heads\" = [2, 3]\n", "heads=3-s1: model: width 16 is not a multiple of heads 3");
  expect("seeds = [1]\n[variants]\n\"a\" = \"train.lr=1\"\n", "variants: a must be a list of strings such as");
  expect("seeds = [1]\n[variants]\n\"a b\" = []\n\"a-b\" = []\n", "two runs are called tiny-tra-a-b-s1");
  EXPECT_FALSE(fs::exists(At("")));
  EXPECT_EQ(RunTra("sweep " + (directory / "none.toml")).code, 2);
}

}  // namespace
}  // namespace tra
