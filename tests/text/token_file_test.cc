#include "tra/text/token_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "tests/base/files.h"
#include "tests/text/texts.h"

namespace tra {
namespace {

using Ids = std::vector<int32_t>;

constexpr size_t kHeaderBytes = 304;

void Write(const std::string& path, const Ids& ids, int64_t vocabulary) {
  TokenFileWriter writer(path, vocabulary);
  writer.Add(ids);
  TokenFileInfo info;
  info.tokenizer_checksum = std::string(64, 'a');
  info.text_sha256 = std::string(64, 'b');
  info.text_bytes = 1000;
  info.words = 200;
  info.lines = 30;
  writer.Commit(info);
}

std::vector<int64_t> ReadAll(const TokenFile& file) {
  std::vector<int64_t> ids(static_cast<size_t>(file.Size()));
  file.Read(0, file.Size(), ids.data());
  return ids;
}

TEST(TokenFile, HoldsIdsOfAnyVocabularyInAsFewBytesAsItNeeds) {
  const TemporaryDirectory directory;
  for (const int64_t vocabulary : {256, 65536, 65537, 1 << 30}) {
    SCOPED_TRACE(vocabulary);
    const Ids ids = {0, 1, 255, static_cast<int32_t>(vocabulary - 1)};
    Write(directory / "ids", ids, vocabulary);
    const TokenFile file(directory / "ids");
    EXPECT_EQ(ReadAll(file), std::vector<int64_t>(ids.begin(), ids.end()));
    EXPECT_EQ(file.Info().id_bytes, vocabulary <= 65536 ? 2 : 4);
    EXPECT_EQ(std::filesystem::file_size(directory / "ids"), kHeaderBytes + ids.size() * (vocabulary <= 65536 ? 2 : 4));
  }
}

TEST(TokenFile, SaysWhatItIsOf) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {1, 2, 3}, 300);
  const TokenFile file(directory / "ids");
  EXPECT_EQ(file.Info().tokenizer_checksum, std::string(64, 'a'));
  EXPECT_EQ(file.Info().text_sha256, std::string(64, 'b'));
  EXPECT_EQ(file.Info().text_bytes, 1000);
  EXPECT_EQ(file.Info().tokens, 3);
  EXPECT_EQ(file.Info().words, 200);
  EXPECT_EQ(file.Info().lines, 30);
}

TEST(TokenFile, ReadsWithinItsTokensOnly) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {7, 8, 9}, 300);
  const TokenFile file(directory / "ids");
  int64_t two[2];
  file.Read(1, 2, two);
  EXPECT_EQ(two[0], 8);
  EXPECT_EQ(two[1], 9);
  EXPECT_EQ(file[2], 9);
  file.Read(3, 0, two);
  EXPECT_EQ(FailureOf([&] { file.Read(2, 2, two); }), "token file: 2 tokens from 2 on, of 3");
  EXPECT_THROW(file.Read(-1, 1, two), std::out_of_range);
  EXPECT_THROW(file.Read(0, -1, two), std::out_of_range);
  EXPECT_THROW(file.Read(4, 0, two), std::out_of_range);
  EXPECT_THROW(file[3], std::out_of_range);
  EXPECT_THROW(TokenFile()[0], std::out_of_range);
}

TEST(TokenFile, EveryFlippedBitIsFound) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {1, 2, 3, 40000}, 50000);
  const std::string good = ReadBytes(directory / "ids");
  ASSERT_EQ(good.size(), kHeaderBytes + 8);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    WriteText(directory / "bad", bad);
    EXPECT_THROW(TokenFile(directory / "bad"), std::runtime_error) << "bit " << bit;
  }
}

TEST(TokenFile, EveryOtherLengthIsFound) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {1, 2, 3}, 300);
  const std::string good = ReadBytes(directory / "ids");
  for (size_t size = 0; size < good.size(); ++size) {
    WriteText(directory / "bad", std::string_view(good).substr(0, size));
    EXPECT_THROW(TokenFile(directory / "bad"), std::runtime_error) << size;
  }
  WriteText(directory / "bad", good + "x");
  EXPECT_EQ(FailureOf([&] { TokenFile(directory / "bad"); }),
            directory / "bad" + ": has 7 bytes of ids, not 3 ids of 2 bytes; delete it, and it is made again");
}

TEST(TokenFile, OtherVersionsAndOtherFilesAreNamed) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {1}, 300);
  std::string bytes = ReadBytes(directory / "ids");
  bytes[8] = 0;
  WriteText(directory / "old", bytes);
  EXPECT_EQ(FailureOf([&] { TokenFile(directory / "old"); }),
            directory / "old" + ": is of version 0, not 1; delete it, and it is made again");
  WriteText(directory / "text", Prose(100));
  EXPECT_EQ(FailureOf([&] { TokenFile(directory / "text"); }),
            directory / "text" + ": is not a file of token ids; delete it, and it is made again");
}

// Writes another number into the header of a file, and the sum that belongs to it.
std::string WithField(std::string bytes, size_t offset, uint64_t value, size_t size) {
  std::memcpy(bytes.data() + offset, &value, size);
  const std::string sum = Sha256Hex(std::string_view(bytes).substr(0, kHeaderBytes - 64));
  return bytes.replace(kHeaderBytes - 64, 64, sum);
}

TEST(TokenFile, AHeaderThatIsNotOursIsRefusedThoughItsSumIsRight) {
  const TemporaryDirectory directory;
  Write(directory / "ids", {1, 2, 3, 4}, 300);
  const std::string good = ReadBytes(directory / "ids");
  const auto error = [&](size_t offset, uint64_t value, size_t size) {
    WriteText(directory / "bad", WithField(good, offset, value, size));
    const std::string said = FailureOf([&] { TokenFile(directory / "bad"); });
    return said.substr(0, said.rfind(';')).substr((directory / "bad").size() + 2);
  };
  WriteText(directory / "bad", WithField(good, 12, 2, 4));
  EXPECT_EQ(TokenFile(directory / "bad").Size(), 4);
  for (const uint64_t id_bytes : {uint64_t{0}, uint64_t{1}, uint64_t{8}, uint64_t{1} << 31}) {
    EXPECT_EQ(error(12, id_bytes, 4), "has ids of " + std::to_string(id_bytes) + " bytes, not of 2 or 4");
  }
  EXPECT_EQ(error(16, (uint64_t{1} << 63) + 4, 8),  // times two is 8 again
            "has 8 bytes of ids, not 9223372036854775812 ids of 2 bytes");
  for (const size_t count : {24, 32, 40}) EXPECT_EQ(error(count, UINT64_MAX, 8), "counts more than there can be");
}

TEST(TokenFile, TruncatedWhileItIsOpenItFailsInsteadOfKillingTheProcess) {
  const TemporaryDirectory directory;
  Write(directory / "ids", Ids(100'000, 7), 300);
  const TokenFile file(directory / "ids");
  EXPECT_EQ(file.Info().largest_id, 7);
  std::filesystem::resize_file(directory / "ids", 1000);
  EXPECT_EQ(file[0], 7);
  EXPECT_EQ(FailureOf([&] { static_cast<void>(file[99'999]); }),
            directory / "ids" + ": became shorter while it was read; read it again");
}

}  // namespace
}  // namespace tra
