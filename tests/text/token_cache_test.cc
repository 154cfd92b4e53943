// Tests that texts are tokenised once, whatever happens to the files and however many processes want them.
#include "tra/text/token_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tests/base/files.h"
#include "tests/text/texts.h"
#include "tra/text/bpe_tokenizer.h"
#include "tra/text/tokenizers.h"

namespace tra {
namespace {

using Names = std::set<std::string>;

class OpenTokensTest : public testing::Test {
 protected:
  // Opens the tokens, and collects the notices in notices_.
  TokenFile Open(const Tokenizer& tokenizer, OpenTokensOptions options = {}) {
    notices_.clear();
    options.notice = [this](const std::string& notice) { notices_.push_back(notice); };
    return OpenTokens(text_, tokenizer, cache_ / "", options);
  }
  std::string Failure() {
    return FailureOf([&] { Open(*bytes_); });
  }
  std::string CachePath() const { return TokenCachePath(text_, *bytes_, cache_ / ""); }

  const TemporaryDirectory corpus_, cache_;
  const std::string text_ = corpus_ / "train.txt";
  const std::unique_ptr<Tokenizer> bytes_ = MakeTokenizer("bytes");
  const std::string first_notice_ = "tokenising " + text_ + " with bytes";
  std::vector<std::string> notices_;
};

std::vector<int32_t> All(const TokenFile& file) {
  std::vector<int64_t> wide(static_cast<size_t>(file.Size()));
  file.Read(0, file.Size(), wide.data());
  return {wide.begin(), wide.end()};
}

TEST_F(OpenTokensTest, TokenisesOnceAndSaysSo) {
  WriteText(text_, "two words\nand more");
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode("two words\nand more"));
  EXPECT_EQ(notices_, std::vector<std::string>{first_notice_});
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode("two words\nand more"));
  EXPECT_EQ(notices_, std::vector<std::string>{});
  EXPECT_EQ(corpus_.Names(), Names{"train.txt"});  // nothing else: the disk may be read-only
}

TEST_F(OpenTokensTest, GivesTheSameForAnyThreadsAndChunks) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  std::mt19937_64 random(12);
  const std::string text = Prose(300) + RandomText(random, 3000);
  WriteText(text_, text);
  const std::vector<int32_t> want = tokenizer.Encode(text);
  std::string bytes;
  for (const size_t threads : {1, 2, 5}) {
    for (const size_t chunk_bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}, size_t{1} << 20, ~size_t{0}}) {
      const TemporaryDirectory cache;
      const TokenFile file = OpenTokens(text_, tokenizer, cache / "", {threads, chunk_bytes, nullptr});
      EXPECT_EQ(All(file), want);
      const std::string now = ReadBytes(TokenCachePath(text_, tokenizer, cache / ""));
      EXPECT_EQ(now, bytes.empty() ? now : bytes);  // with the counts of words and lines
      bytes = now;
    }
  }
}

TEST_F(OpenTokensTest, CountsWordsAndLines) {
  const struct {
    const char* text;
    int64_t words, lines;
  } kCases[] = {{"a", 1, 1}, {"a\n", 1, 1}, {"\n\n", 0, 2}, {" a  b\tc \n = d = \n", 6, 2}, {"a\u00a0b c\nd", 3, 2}};
  for (const auto& each : kCases) {
    WriteText(text_, each.text);
    const TokenFile file = Open(*bytes_, {1, 1, nullptr});
    EXPECT_EQ(file.Info().words, each.words) << each.text;
    EXPECT_EQ(file.Info().lines, each.lines) << each.text;
  }
}

TEST_F(OpenTokensTest, AChangedTextIsTokenisedAgainInPlace) {
  WriteText(text_, "first");
  Open(*bytes_);
  const Names names = cache_.Names();
  WriteText(text_, "other");
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode("other"));
  EXPECT_EQ(notices_, std::vector<std::string>{first_notice_ + " again: the text has changed"});
  EXPECT_EQ(cache_.Names(), names);
}

TEST_F(OpenTokensTest, TextsOfOneNameAndOtherTokenizersHaveFilesOfTheirOwn) {
  const BpeTokenizer bpe("bpe", SmallBpe());
  const TemporaryDirectory other;
  WriteText(text_, "text");
  WriteText(other / "train.txt", "other text");
  const std::set<std::string> paths = {CachePath(), TokenCachePath(text_, bpe, cache_ / ""),
                                       TokenCachePath(other / "train.txt", *bytes_, cache_ / "")};
  EXPECT_EQ(paths.size(), 3u);
  Open(*bytes_);
  Open(bpe);
  EXPECT_EQ(notices_.size(), 1u);
  Open(*bytes_);
  EXPECT_EQ(notices_.size(), 0u);
}

TEST_F(OpenTokensTest, OneTextHasOneFileUnderAllItsPaths) {
  WriteText(text_, "text");
  std::filesystem::create_symlink(text_, corpus_ / "link");
  for (const std::string& path : {corpus_ / "./train.txt", corpus_ / "link"}) {
    EXPECT_EQ(TokenCachePath(path, *bytes_, cache_ / ""), CachePath());
  }
  const std::string long_name = corpus_ / std::string(255, 'n');
  EXPECT_LE(std::filesystem::path(TokenCachePath(long_name, *bytes_, cache_ / "") + ".lock").filename().string().size(),
            255u);
}

TEST_F(OpenTokensTest, DamagedFilesAreMadeAgainWithTheReason) {
  WriteText(text_, Prose(10));
  Open(*bytes_);
  const std::string good = ReadBytes(CachePath());
  const auto expect_made_again = [&](const std::string& bad, const std::string& reason) {
    WriteText(CachePath(), bad);
    EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode(Prose(10)));
    ASSERT_EQ(notices_.size(), 1u);
    EXPECT_EQ(notices_[0],
              first_notice_ + " again: " + CachePath() + ": " + reason + "; delete it, and it is made again");
    EXPECT_EQ(ReadBytes(CachePath()), good);
  };
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  expect_made_again(bad, "has damaged ids");
  bad = good;
  bad[100] = static_cast<char>(bad[100] ^ 1);
  expect_made_again(bad, "has a damaged header");
  bad = good;
  bad[8] = 0;
  expect_made_again(bad, "is of version 0, not 1");
  expect_made_again(good.substr(0, 200), "is cut off in its header");
  expect_made_again("", "is not a file of token ids");
}

TEST_F(OpenTokensTest, WhatIsNotTextIsNamedWithLineAndByte) {
  EXPECT_EQ(Failure(), text_ + ": no such file; check the path");
  WriteText(text_, "");
  EXPECT_EQ(Failure(), text_ + ": is empty; name a file with text in it");
  const std::string prose = Prose(100);
  WriteText(text_, prose + "caf\xE9");
  const std::string where = text_ + ": line 101, byte " + std::to_string(prose.size() + 3);
  EXPECT_EQ(Failure(), where +
                           " is not UTF-8; convert it, for example with iconv -f LATIN1 -t UTF-8, or name another "
                           "file");
  // The first fault is reported, whichever chunk it is in.
  const std::string text = prose + std::string("a b\0c", 5) + prose + "\xFF";
  WriteText(text_, text);
  for (const size_t chunk_bytes : {1, 64, 1 << 20}) {
    EXPECT_EQ(FailureOf([&] {
                Open(*bytes_, {3, chunk_bytes, nullptr});
              }),
              where + " is NUL, so this is not text; name a file of plain text");
  }
  for (const std::string& name : cache_.Names()) EXPECT_NE(name.find(".lock"), std::string::npos) << name;
}

TEST_F(OpenTokensTest, ACacheThatCannotBeWrittenIsNamedWithTheRemedy) {
  WriteText(text_, Prose(1000));
  WriteText(corpus_ / "file", "x");
  EXPECT_EQ(FailureOf([&] { OpenTokens(text_, *bytes_, corpus_ / "file/cache"); }),
            corpus_ / "file/cache" +
                ": cannot create the directory: Not a directory; TRA_CACHE names another place for tokenised texts");
  std::string failure;
  {
    const FileSizeLimit full(4096);
    failure = Failure();
  }
  EXPECT_EQ(failure, CachePath() +
                         ": cannot write: File too large; make room or write to another disk; TRA_CACHE names another "
                         "place for tokenised texts");
  EXPECT_EQ(cache_.Names().size(), 1u);  // only the lock
}

TEST_F(OpenTokensTest, ACacheThatIsSoundNeedsNoRightToWrite) {
  WriteText(text_, "text");
  Open(*bytes_);
  const Names names = cache_.Names();
  const FileSizeLimit no_writing(0);
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode("text"));
  EXPECT_EQ(cache_.Names(), names);
}

// Forks `count` processes that open the tokens at the same time. Returns how many of them had to tokenise, or nothing
// if any failed or got the wrong number of tokens.
std::optional<int> OpenInProcesses(int count, const std::function<std::pair<bool, size_t>()>& open, size_t want) {
  int gate[2];
  if (pipe(gate) != 0) return std::nullopt;
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      close(gate[1]);
      char byte = 0;
      while (read(gate[0], &byte, 1) > 0) {  // until the parent closes it
      }
      try {
        const auto [tokenised, size] = open();
        _exit(size == want ? (tokenised ? 1 : 0) : 2);
      } catch (...) {
        _exit(3);
      }
    }
  }
  close(gate[0]);
  close(gate[1]);
  int tokenised = 0;
  bool right = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    right &= WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    tokenised += WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 1 : 0;
  }
  return right ? std::optional<int>(tokenised) : std::nullopt;
}

TEST_F(OpenTokensTest, OfManyProcessesOneTokenisesAndTheOthersWait) {
  const std::string text = Prose(20'000);
  WriteText(text_, text);
  const auto open = [&] {
    const TokenFile file = Open(*bytes_);
    return std::pair(!notices_.empty(), static_cast<size_t>(file.Size()));
  };
  EXPECT_EQ(OpenInProcesses(6, open, text.size()), 1);
  EXPECT_EQ(OpenInProcesses(3, open, text.size()), 0);
}

TEST_F(OpenTokensTest, WithoutLocksManyProcessesStillGetWholeFiles) {
  const std::string text = Prose(20'000);
  WriteText(text_, text);
  std::filesystem::create_directory(CachePath() + ".lock");  // cannot be opened as a lock
  const auto open = [&] {
    const TokenFile file = Open(*bytes_);
    return std::pair(!notices_.empty(), static_cast<size_t>(file.Size()));
  };
  EXPECT_GE(OpenInProcesses(6, open, text.size()), 1);
  EXPECT_EQ(cache_.Names().size(), 2u);
}

TEST_F(OpenTokensTest, AProcessThatIsKilledLeavesNothingThatCounts) {
  WriteText(text_, Prose(2000));
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const FileSizeLimit limit(4096, /*kill=*/true);
    Open(*bytes_);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
  EXPECT_FALSE(std::filesystem::exists(CachePath()));
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode(Prose(2000)));
  EXPECT_EQ(notices_, std::vector<std::string>{first_notice_});
}

// Sets an environment variable, or unsets it if the value is null. The destructor restores it.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Put(value);
  }
  ~Environment() { Put(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void Put(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(DefaultCacheDirectory, IsTheFirstThatTheEnvironmentNames) {
  const Environment home("HOME", "/home/me");
  const Environment own("TRA_CACHE", "/own");
  const Environment all("XDG_CACHE_HOME", "/all");
  EXPECT_EQ(DefaultCacheDirectory(), "/own");
  const Environment no_own("TRA_CACHE", "");
  EXPECT_EQ(DefaultCacheDirectory(), "/all/tra");
  const Environment no_all("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(DefaultCacheDirectory(), "/home/me/.cache/tra");
  const Environment no_home("HOME", nullptr);
  EXPECT_EQ(FailureOf([] { DefaultCacheDirectory(); }),
            "no place for tokenised texts: set TRA_CACHE to a directory, or HOME");
}

TEST_F(OpenTokensTest, IdsThatTheTokenizerDoesNotHaveAreMadeAgain) {
  WriteText(text_, "text");
  Open(*bytes_);
  TokenFileWriter writer(CachePath(), 65536);
  writer.Add({116, 300, 120, 116});
  TokenFileInfo info;
  info.tokenizer_checksum = bytes_->Checksum();
  info.text_sha256 = Sha256Hex("text");
  info.text_bytes = 4;
  writer.Commit(info);
  EXPECT_EQ(All(Open(*bytes_)), bytes_->Encode("text"));
  EXPECT_EQ(notices_, std::vector<std::string>{first_notice_ + " again: " + CachePath() +
                                               " has ids that the tokenizer does not have"});
}

TEST_F(OpenTokensTest, APipeInPlaceOfACacheIsAnErrorAndNotWaitedFor) {
  WriteText(text_, "text");
  ASSERT_EQ(mkfifo(CachePath().c_str(), 0666), 0);
  EXPECT_NE(Failure().find("exists and is not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace tra
