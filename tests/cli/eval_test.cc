// Tests scores and tables as a user asks for them: of a task at lengths it was not trained on, and of a text.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

using nlohmann::json;

constexpr char kModel[] = "[model]\nlayers = 1\nheads = 1\nwidth = 16\n";

// Returns the rows by split, group, window and metric.
std::map<std::string, json> Rows(const std::string& text) {
  std::map<std::string, json> rows;
  const json all = json::parse(text);
  for (const json& row : all.at("rows")) {
    std::string name = row.at("split").get<std::string>();
    if (row.at("window") > 0) name += " " + row.at("window").dump();
    const auto group = row.at("group").get<std::string>();
    if (!group.empty()) name += " " + group;
    rows[name + " " + row.at("metric").get<std::string>()] = row;
  }
  return rows;
}

TEST(Eval, OfATaskAtOtherLengths) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "copy.toml") << kModel << "[data]\ntask = \"copy\"\nlengths = [1, 4]\n"
                                         << "[train]\nsteps = 3\nbatch = 4\n[eval]\nexamples = 3\nsplits = [\"iid\"]\n";
  for (const char* attention : {"tra", "rope", "label"}) {
    const std::string run = directory / attention;
    const Result trained = RunTra("train " + (directory / "copy.toml") + " --threads 1 --quiet --run " + run +
                                  " --set model.attention=" + attention);
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Result eval = RunTra("eval " + run + " --lengths 9 --lengths 40-50 --examples 2 --threads 1 --json");
    ASSERT_EQ(eval.code, 0) << eval.err;
    const auto rows = Rows(eval.out);
    ASSERT_EQ(rows.count("9-9 em"), 1U) << eval.out;
    EXPECT_EQ(rows.at("9-9 em").at("n"), 2);
    EXPECT_EQ(rows.at("9-9 token_error").at("n"), 2 * 10);  // nine symbols and EOS
    EXPECT_EQ(rows.count("40-50 em"), 1U) << eval.out;
  }
  const Result windows = RunTra("eval " + (directory / "tra") + " --windows 16 --threads 1");
  EXPECT_EQ(windows.code, 2);
  EXPECT_TRUE(Contains(windows.err, "use --lengths")) << windows.err;
  const Result split = RunTra("eval " + (directory / "tra") + " --split idd --threads 1");
  EXPECT_NE(split.code, 0);
  EXPECT_TRUE(Contains(split.err, "did you mean 'iid'?")) << split.err;

  const Result table = RunTra("table " + (directory / "") + " --table all");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(Contains(table.out, "|  | RoPE | Label | TRA |")) << table.out;
}

TEST(Eval, OfATextByWindowAndPosition) {
  const TemporaryDirectory directory;
  std::string line;
  for (int i = 0; i < 40; ++i) line += "the cat sat on the mat . ";
  for (const char* name : {"train.txt", "valid.txt", "test.txt"}) std::ofstream(directory / name) << line << "\n";
  std::ofstream(directory / "text.toml") << kModel << "[data]\ntask = \"text\"\nwindow = 16\ncorpus = \""
                                         << (directory / "") << "\"\ncache = \"" << (directory / "cache")
                                         << "\"\n[train]\nsteps = 20\nbatch = 8\nlr = 1e-2\neval_every = 10\n"
                                         << "[eval]\nwindows = [16, 64]\n";
  const std::string run = directory / "run";
  const Result trained = RunTra("train " + (directory / "text.toml") + " --threads 1 --quiet --run " + run);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Result eval = RunTra("eval " + run + " --windows 16,64 --windows 512 --threads 1 --json");
  ASSERT_EQ(eval.code, 0) << eval.err;
  const auto rows = Rows(eval.out);
  // eval gives the same scores as the run itself did at its end.
  EXPECT_EQ(Rows(ReadBytes(run + "/results.json")).at("test 64 ppl_token"), rows.at("test 64 ppl_token"));
  const double bytes = 1001, words = 281;  // 280 between spaces and one for the end of the line
  for (const char* window : {"16", "64", "512"}) {
    const std::string at = "test " + std::string(window);
    const json& token = rows.at(at + " ppl_token");
    EXPECT_EQ(token.at("n").get<double>(), bytes - 1) << window;  // the first has no context, so it is not scored
    const double loss = std::log(token.at("value").get<double>());
    EXPECT_NEAR(rows.at(at + " loss").at("value").get<double>(), loss, 1e-9);
    EXPECT_NEAR(std::log(rows.at(at + " ppl_word").at("value").get<double>()) / (loss * (bytes - 1) / words), 1, 1e-9);
    EXPECT_EQ(rows.at(at + " bits_per_byte").at("n").get<double>(), bytes - 1);
    EXPECT_NEAR(rows.at(at + " bits_per_byte").at("value").get<double>(), loss / std::log(2), 1e-9);  // a byte, a token
  }
  EXPECT_LT(rows.at("test 16 ppl_token").at("value").get<double>(), 30);  // of 256 bytes; 14 of them occur
  ASSERT_EQ(rows.count("test 64 at 32-63 loss"), 1U) << eval.out;
  EXPECT_NEAR(std::log(rows.at("test 64 at 32-63 ppl_token").at("value").get<double>()),
              rows.at("test 64 at 32-63 loss").at("value").get<double>(), 1e-9);
  const std::string plain = RunTra("eval " + run + " --windows 64 --threads 1").out;
  const std::string details = RunTra("eval " + run + " --windows 64 --threads 1 --details").out;
  EXPECT_EQ(
      details.rfind("| split                | ppl_token | bits_per_byte |   loss | ppl_word | tokens | bytes |", 0), 0U)
      << details;
  EXPECT_TRUE(Contains(details, "\n| test at 64, at 32-63 | ")) << details;
  EXPECT_FALSE(Contains(plain, "at 32-63")) << plain;
  EXPECT_FALSE(Contains(plain, "loss")) << plain;
  EXPECT_EQ(rows.count("test 16 at 32-63 loss"), 0U);

  // Other tokens, the same bytes: those of the text but for the first token, which has no context.
  const std::string bpe = directory / "bpe", merged = directory / "merged";
  const Result learnt = RunTra("data learn-bpe " + (directory / "") + " --vocabulary 265 --out " + bpe);
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  const json ids = json::parse(RunTra("tokenize --tokenizer bpe --files " + bpe, line + "\n").out);
  const std::string first = RunTra("tokenize --decode --tokenizer bpe --files " + bpe, json{ids[0]}.dump()).out;
  const double scored = bytes - static_cast<double>(first.size());
  const Result again = RunTra("train " + (directory / "text.toml") + " --threads 1 --quiet --run " + merged +
                              " --set data.tokenizer=bpe --set data.tokenizer_files=" + bpe);
  ASSERT_EQ(again.code, 0) << again.err;
  for (const char* stride : {"16", "5"}) {
    const Result result = RunTra("eval " + merged + " --windows 16 --threads 1 --json --stride " + stride);
    const auto of_tokens = Rows(result.out);
    const json &token = of_tokens.at("test 16 ppl_token"), &bits = of_tokens.at("test 16 bits_per_byte");
    EXPECT_EQ(token.at("n").get<size_t>(), ids.size() - 1);
    EXPECT_LT(ids.size(), 600u);
    EXPECT_EQ(bits.at("n").get<double>(), scored);
    const double loss = std::log(token.at("value").get<double>()) * static_cast<double>(ids.size() - 1);
    EXPECT_NEAR(bits.at("value").get<double>(), loss / std::log(2) / scored, 1e-9);
  }

  const Result lengths = RunTra("eval " + run + " --lengths 5 --threads 1");
  EXPECT_EQ(lengths.code, 2);
  EXPECT_TRUE(Contains(lengths.err, "use --windows")) << lengths.err;

  const Result strided = RunTra("eval " + run + " --windows 16 --stride 4 --threads 1 --json");
  ASSERT_EQ(strided.code, 0) << strided.err;
  EXPECT_EQ(json::parse(strided.out).at("context").at("stride"), 4);
  EXPECT_EQ(Rows(strided.out).at("test 16 ppl_token").at("n").get<double>(), bytes - 1);
}

}  // namespace
}  // namespace tra
