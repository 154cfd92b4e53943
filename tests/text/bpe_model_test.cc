// Tests the files of a BPE: round trips, and every way in which they can be wrong.
#include "tra/text/bpe_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/base/files.h"
#include "tests/text/texts.h"

namespace tra {
namespace {

constexpr char kRemedy[] =
    "; the file is damaged or of another tokenizer: get it again, or train encoder.json and vocab.bpe anew";

struct Files {
  std::string encoder, merges;
};

Files SmallFiles() {
  const TemporaryDirectory directory;
  WriteBpe(SmallBpe(), directory / "bpe");
  return {ReadBytes(directory / "bpe/encoder.json"), ReadBytes(directory / "bpe/vocab.bpe")};
}

// Replaces the first `old`.
std::string Replace(std::string text, const std::string& old, const std::string& by) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), by);
}

void ExpectRejected(const Files& files, const std::string& message) {
  const std::string failure = FailureOf([&] { ParseBpe(files.encoder, files.merges, "dir"); });
  EXPECT_EQ(failure.substr(0, 4 + message.size()), "dir/" + message) << failure;
  EXPECT_NE(failure.find(kRemedy), std::string::npos) << failure;
}

void ExpectEncoderRejected(const std::string& encoder, const std::string& message) {
  ExpectRejected({encoder, SmallFiles().merges}, "encoder.json: " + message);
}

void ExpectMergesRejected(const std::string& merges, const std::string& message) {
  ExpectRejected({SmallFiles().encoder, merges}, "vocab.bpe: " + message);
}

TEST(BpeFiles, HoldTheWholeModel) {
  const Files files = SmallFiles();
  const BpeModel& want = SmallBpe();
  const BpeModel got = ParseBpe(files.encoder, files.merges, "dir");
  EXPECT_EQ(got.tokens, want.tokens);
  EXPECT_EQ(got.byte_ids, want.byte_ids);
  EXPECT_EQ(got.end_of_text, want.end_of_text);
  ASSERT_EQ(got.merges.size(), want.merges.size());
  for (size_t i = 0; i < got.merges.size(); ++i) {
    EXPECT_EQ(got.merges[i].left, want.merges[i].left);
    EXPECT_EQ(got.merges[i].right, want.merges[i].right);
    EXPECT_EQ(got.merges[i].result, want.merges[i].result);
  }
}

TEST(BpeFiles, AreInTheFormatOfGpt2) {
  const Files files = SmallFiles();
  EXPECT_EQ(files.encoder.substr(0, 24), R"({"!": 0, "\"": 1, "#": 2)");
  EXPECT_NE(files.encoder.find(R"("\u0120": 220)"), std::string::npos);
  EXPECT_EQ(files.merges.substr(0, 14), "#version: 0.2\n");
  EXPECT_EQ(std::count(files.merges.begin(), files.merges.end(), '\n'), 44);
}

TEST(BpeFiles, BytesAreVisibleCharactersAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(FromVisible(ToVisible(all)), all);
  EXPECT_EQ(ToVisible(std::string_view("a \n\0", 4)), "aĠĊĀ");
  for (const char* other : {" ", "\n", "\xFF", "Ń\xC5", "\xC1\x81", "日", "ń"})
    EXPECT_EQ(FromVisible(other), std::nullopt) << other;
}

TEST(BpeFiles, VersionLineMayBeMissingAndHashesAreOrdinary) {
  const Files files = SmallFiles();
  EXPECT_EQ(ParseBpe(files.encoder, files.merges.substr(14), "dir").merges.size(), 43u);
  // A merge of two hashes is not a comment.
  const BpeModel model = TrainBpe("### ### ###", 258);
  const TemporaryDirectory directory;
  WriteBpe(model, directory / "");
  EXPECT_EQ(ReadBytes(directory / "vocab.bpe"), "#version: 0.2\n# #\n");
  EXPECT_EQ(ParseBpe(ReadBytes(directory / "encoder.json"), "# #\n", "dir").merges.size(), 1u);
}

TEST(BpeFiles, DamagedEncodersAreRejected) {
  const std::string good = SmallFiles().encoder;
  ExpectEncoderRejected("", "is not JSON: [json.exception.parse_error.101]");
  ExpectEncoderRejected(good.substr(0, good.size() / 2), "is not JSON: [json.exception.parse_error.101]");
  ExpectEncoderRejected("[1, 2]", "is not an object of tokens and ids");
  ExpectEncoderRejected("{}", "is not an object of tokens and ids");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"#\": 1,"), "id 1 is of two tokens");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"#\": 300,"),
                        "token \"#\" has the id 300, but 300 tokens have the ids from 0 to 299");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"#\": -2,"), "token \"#\" has the id -2");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"#\": \"2\","), "token \"#\" has the id \"2\"");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", ""), "token \"<|endoftext|>\" has the id 299");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"# #\": 2,"), "token \"# #\" is not of GPT-2's byte characters");
  ExpectEncoderRejected(Replace(good, "\"#\": 2,", "\"##\": 2,"), "has no token \"#\" for the byte 35");
}

TEST(BpeFiles, DamagedMergesAreRejected) {
  const std::string good = SmallFiles().merges;
  ExpectMergesRejected(good + "a\n", "line 45 is not two parts with a space between");
  ExpectMergesRejected(good + "a  b\n", "line 45 is not of GPT-2's byte characters");
  ExpectMergesRejected(good + "a b c\n", "line 45 is not of GPT-2's byte characters");
  ExpectMergesRejected(good + "a b\r\n", "line 45 is not of GPT-2's byte characters");
  ExpectMergesRejected("\n" + good, "line 1 is not two parts with a space between");
  ExpectMergesRejected(good + "Q Q\n", "line 45 needs the token \"QQ\", which encoder.json lacks");
  ExpectMergesRejected(good + "QQ a\n", "line 45 needs the token \"QQ\", which encoder.json lacks");
  ExpectMergesRejected(good + good.substr(14, good.find('\n', 14) - 13), "line 45 makes a token that is there already");
  // The last merge that uses the result of another one is an error in front of that one.
  const BpeModel& model = SmallBpe();
  for (size_t i = model.merges.size(); i-- > 0;) {
    if (model.merges[i].left < 256 && model.merges[i].right < 256) continue;
    const std::string line = ToVisible(model.tokens[static_cast<size_t>(model.merges[i].left)]) + " " +
                             ToVisible(model.tokens[static_cast<size_t>(model.merges[i].right)]) + "\n";
    ExpectMergesRejected(line + good, "line 1 uses a part before it is made");
    break;
  }
}

TEST(BpeFiles, AreRejectedOrWholeWhateverByteChanges) {
  const Files good = SmallFiles();
  std::mt19937_64 random(6);
  for (int i = 0; i < 2000; ++i) {
    Files files = good;
    std::string& file = i % 2 == 0 ? files.encoder : files.merges;
    file[random() % file.size()] = static_cast<char>(random());
    try {
      EXPECT_EQ(ParseBpe(files.encoder, files.merges, "dir").tokens.size(), 300u);
    } catch (const std::runtime_error&) {
      // An error is fine; nothing worse may happen.
    }
  }
}

TEST(BpeFiles, WritingSaysWhatIsInTheWay) {
  const TemporaryDirectory directory;
  WriteText(directory / "file", "x");
  EXPECT_EQ(FailureOf([&] { WriteBpe(SmallBpe(), directory / "file/bpe"); }),
            directory / "file/bpe" + ": cannot create the directory: Not a directory; name another one");
  const FileSizeLimit limit(100);
  EXPECT_EQ(FailureOf([&] { WriteBpe(SmallBpe(), directory / "bpe"); }),
            directory / "bpe/encoder.json" + ": cannot write: File too large; make room or write to another disk");
}

}  // namespace
}  // namespace tra
