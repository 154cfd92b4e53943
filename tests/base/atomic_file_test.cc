#include "tra/base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/base/files.h"

namespace tra {
namespace {

using Names = std::set<std::string>;

void WriteWhole(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.Write(bytes.data(), bytes.size());
  file.Commit();
}

std::string WriteFailure(const std::string& path, const std::string& bytes) {
  try {
    WriteWhole(path, bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(AtomicFile, RewritesWhatStandsBefore) {
  const TemporaryDirectory directory;
  AtomicFile file(directory / "a");
  file.Write("....body", 8);
  file.Rewrite(1, "he", 2);
  file.Write("!", 1);
  file.Commit();
  EXPECT_EQ(ReadBytes(directory / "a"), ".he.body!");
}

TEST(AtomicFile, AppearsOnlyWithCommitAndReplacesTheOldOne) {
  const TemporaryDirectory directory;
  WriteWhole(directory / "a", "old");
  AtomicFile file(directory / "a");
  file.Write("new", 3);
  EXPECT_EQ(ReadBytes(directory / "a"), "old");
  file.Commit();
  EXPECT_EQ(ReadBytes(directory / "a"), "new");
  EXPECT_EQ(directory.Names(), Names{"a"});
}

TEST(AtomicFile, WithoutCommitLeavesNoTrace) {
  const TemporaryDirectory directory;
  {
    AtomicFile file(directory / "a");
    file.Write("new", 3);
    EXPECT_EQ(directory.Names().size(), 1u);
  }
  EXPECT_EQ(directory.Names(), Names{});
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  const TemporaryDirectory directory;
  AtomicFile first(directory / "a"), second(directory / "a");
  first.Write("first", 5);
  second.Write("second", 6);
  second.Commit();
  EXPECT_EQ(ReadBytes(directory / "a"), "second");
  first.Commit();
  EXPECT_EQ(ReadBytes(directory / "a"), "first");
}

TEST(AtomicFile, TemporaryFilesOfOthersAreLeftAlone) {
  const TemporaryDirectory directory;
  const std::string prefix = ".tra-" + std::to_string(getpid()) + "-";
  Names others;
  for (int i = 0; i < 100; ++i) {  // more than this process has used up so far
    others.insert(prefix + std::to_string(i) + ".tmp");
  }
  for (const std::string& name : others) std::ofstream(directory / name) << "other";
  WriteWhole(directory / "a", "mine");
  EXPECT_EQ(ReadBytes(directory / "a"), "mine");
  for (const std::string& name : others) EXPECT_EQ(ReadBytes(directory / name), "other");
}

TEST(AtomicFile, NamesMayBeAsLongAsTheFileSystemAllows) {
  const TemporaryDirectory directory;
  const std::string name(255, 'n');
  WriteWhole(directory / name, "x");
  EXPECT_EQ(directory.Names(), Names{name});
}

TEST(AtomicFile, HasThePermissionsOfAnyNewFile) {
  const TemporaryDirectory directory;
  const mode_t before = umask(022);
  WriteWhole(directory / "a", "x");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat((directory / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(AtomicFile, MissingDirectoryIsNamedWithTheRemedy) {
  const TemporaryDirectory directory;
  const std::string path = directory / "none/a";
  EXPECT_EQ(WriteFailure(path, "x"),
            path + ": cannot create a file beside it: No such file or directory; create its directory first");
  EXPECT_EQ(directory.Names(), Names{});
}

TEST(AtomicFile, FullDiskLeavesTheOldFileAndNothingElse) {
  const TemporaryDirectory directory;
  WriteWhole(directory / "a", "old");
  std::string failure;
  {
    const FileSizeLimit limit(4096);
    failure = WriteFailure(directory / "a", std::string(10000, 'x'));
  }
  EXPECT_EQ(failure, directory / "a" + ": cannot write: File too large; make room or write to another disk");
  EXPECT_EQ(ReadBytes(directory / "a"), "old");
  EXPECT_EQ(directory.Names(), Names{"a"});
}

TEST(AtomicFile, KilledWriterLeavesTheOldFileAndTheNextOneSucceeds) {
  const TemporaryDirectory directory;
  WriteWhole(directory / "a", "old");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const FileSizeLimit limit(4096, /*kill=*/true);
    WriteWhole(directory / "a", std::string(10000, 'x'));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
  EXPECT_EQ(directory.Names().size(), 2u) << "it was not killed while it wrote";
  EXPECT_EQ(ReadBytes(directory / "a"), "old");
  WriteWhole(directory / "a", "new");
  EXPECT_EQ(ReadBytes(directory / "a"), "new");
  RemoveLeftovers(directory / "");
  EXPECT_EQ(directory.Names(), Names{"a"});
}

TEST(AtomicFile, LeftoversAreRemovedButNotOfAWriterThatLivesElsewhere) {
  const TemporaryDirectory directory;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  const std::string prefix = ".tra-" + std::to_string(dead) + "-";
  const Names others = {prefix + "1.tmpx", prefix + "x.tmp", prefix + "2.tmp"};
  for (const std::string& name : others) std::ofstream(directory / name) << "other";
  std::ofstream(directory / (prefix + "0.tmp")) << "of a process that was killed";
  // The writer of the last one holds its lock, so that process ids of another machine do not matter.
  const int held = open((directory / (prefix + "2.tmp")).c_str(), O_RDWR);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  WriteWhole(directory / "a", "x");  // the first write to a directory tidies it up
  Names left = others;
  left.insert("a");
  EXPECT_EQ(directory.Names(), left);
  close(held);
}

TEST(AtomicFile, DirectoriesAndDevicesAreNotReplaced) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "d");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);  // stands for any device
  for (const char* name : {"d", "pipe"}) {
    EXPECT_EQ(WriteFailure(directory / name, "x"),
              directory / name + ": exists and is not a regular file; write to another name");
  }
  EXPECT_EQ(directory.Names(), (Names{"d", "pipe"}));
  EXPECT_TRUE(std::filesystem::is_fifo(directory / "pipe"));
}

}  // namespace
}  // namespace tra
