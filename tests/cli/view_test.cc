// Tests tra view as a user starts it: what it says, how it ends, and what keeps it from starting.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/cli/models.h"
#include "tests/cli/process.h"

namespace tra {
namespace {

constexpr char kFlipflop[] = "[data]\ntask = \"flipflop\"\nlengths = [8, 8]\n";

// Returns the port that the program says it serves at; empty if it says none within half a minute.
std::string PortOf(const std::string& said) {
  const std::string before = "http://127.0.0.1:";
  for (int i = 0; i < 3000; ++i) {
    const std::string text = ReadBytes(said);
    const size_t at = text.find(before), end = text.find('/', at + before.size());
    if (at != std::string::npos && end != std::string::npos)
      return text.substr(at + before.size(), end - at - before.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "";
}

TEST(View, ServesUntilItIsInterruptedAndSharesItsPortWithNobody) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", said = directory / "said";
  TrainTiny(run, kFlipflop);
  const Process server("view --port 0 --threads 1 " + run, "", said);
  ASSERT_TRUE(WaitFor(said));
  const std::string port = PortOf(said);
  ASSERT_NE(port, "") << ReadBytes(said);
  EXPECT_TRUE(Contains(ReadBytes(said), "1 of 1 runs can be shown")) << ReadBytes(said);
  const Result second = RunTra("view --threads 1 --port " + port + " " + run);
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(Contains(second.err, "choose another with --port")) << second.err;
  server.Kill(SIGINT);
  EXPECT_EQ(server.Wait(), 0);
}

TEST(View, SaysWhatIsMissing) {
  const TemporaryDirectory directory;
  const Result none = RunTra("view " + (directory / "none"));
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(Contains(none.err, "no such file or folder")) << none.err;
  const std::string run = directory / "run";
  TrainTiny(run, kFlipflop);
  std::filesystem::remove_all(run + "/checkpoints");
  const Result untrained = RunTra("view --port 0 --threads 1 " + run);
  EXPECT_EQ(untrained.code, 1);
  EXPECT_TRUE(Contains(untrained.err, "none of these runs can be shown")) << untrained.err;
  EXPECT_EQ(RunTra("view --port 70000 " + run).code, 2);
}

}  // namespace
}  // namespace tra
