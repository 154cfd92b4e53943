#include "tra/report/paper.h"

#include <gtest/gtest.h>

#include <set>

#include "tra/report/specs.h"

namespace tra {
namespace {

void ExpectValue(const Measure& measure, const std::string& attention, double mean, double std) {
  const auto value = FindPaperValue(measure, attention);
  ASSERT_TRUE(value.has_value()) << measure.task << " " << measure.split << " " << attention;
  EXPECT_EQ(value->mean, mean) << measure.task << " " << measure.split << " " << attention;
  EXPECT_EQ(value->std, std) << measure.task << " " << measure.split << " " << attention;
}

// These numbers, some of each table, were read from the paper by eye.
TEST(Paper, NumbersAreThePapers) {
  ExpectValue({"flipflop", "dense", "", 0, "em"}, "rel", 41.2, 47.29);
  ExpectValue({"flipflop", "dense", "", 0, "em"}, "label", 12.58, 15.87);
  ExpectValue({"flipflop", "sparse", "", 0, "em"}, "nope", 99.97, 0.1);
  ExpectValue({"flipflop", "sparse", "", 0, "em"}, "tra", 100, 0);
  ExpectValue({"induct", "iid", "", 0, "em"}, "label", 99.96, 0.04);
  ExpectValue({"induct", "51-100", "", 0, "em"}, "rope", 7.85, 11.87);
  ExpectValue({"copy", "51-100", "", 0, "em"}, "cope", 86.47, 21.17);
  ExpectValue({"copy", "101-200", "", 0, "em"}, "fot", 66.04, 40.49);
  ExpectValue({"copy", "201-300", "", 0, "em"}, "tra", 98.16, 1.82);
  ExpectValue({"flipflop++", "51-500", "after-first", 0, "em"}, "nope", 64.53, 19.36);
  ExpectValue({"flipflop++", "51-500", "after-last", 0, "em"}, "diff", 27.74, 1.82);
  ExpectValue({"flipflop++", "51-500", "before-first", 0, "em"}, "rel", 86.32, 21.67);
  ExpectValue({"flipflop++", "51-500", "before-last", 0, "em"}, "fot", 76.42, 13.72);
  ExpectValue({"text", "test", "", 128, "ppl_token"}, "diff", 29.46, 0.12);
  ExpectValue({"text", "test", "", 128, "ppl_token"}, "tra", 30.04, 0.32);
}

// These numbers were copied a second time, from the notes on the tasks and not from the paper's source: a slip would
// have to be made twice.
TEST(Paper, MeansAgreeWithTheNotesOnTheTasks) {
  const std::vector<std::pair<Measure, std::vector<double>>> lines = {
      {{"flipflop", "iid", "", 0, "em"}, {100, 100, 100, 100, 100, 100, 100, 100, 100}},
      {{"flipflop", "dense", "", 0, "em"}, {0.15, 27.38, 41.2, 100, 12.58, 100, 100, 100, 100}},
      {{"flipflop", "sparse", "", 0, "em"}, {99.97, 90.61, 70.48, 72.82, 86.93, 93.4, 77.8, 95.1, 100}},
      {{"induct", "iid", "", 0, "em"}, {100, 100, 100, 100, 99.96, 100, 100, 100, 100}},
      {{"induct", "51-100", "", 0, "em"}, {13.42, 0, 0, 7.85, 45.36, 15.00, 4.43, 20.42, 100}},
      {{"induct", "101-200", "", 0, "em"}, {0, 0, 0, 0, 0, 0, 0, 0, 99.90}},
      {{"induct", "201-300", "", 0, "em"}, {0, 0, 0, 0, 0, 0, 0, 0, 99.33}},
      {{"copy", "iid", "", 0, "em"}, {100, 100, 100, 100, 100, 100, 100, 100, 100}},
      {{"copy", "51-100", "", 0, "em"}, {12.43, 0, 3.1, 4.44, 26.97, 97.65, 1.61, 86.47, 100}},
      {{"copy", "101-200", "", 0, "em"}, {0, 0, 0, 0, 0, 66.04, 0, 40.89, 99.87}},
      {{"copy", "201-300", "", 0, "em"}, {0, 0, 0, 0, 0, 3.54, 0, 2.08, 98.16}},
      {{"flipflop++", "51-500", "after-first", 0, "em"}, {64.53, 70.78, 95.78, 99.27, 96.80, 51.74, 92.01, 100, 95.64}},
      {{"flipflop++", "51-500", "after-last", 0, "em"}, {20, 11.77, 25.16, 38.06, 37.58, 65.0, 27.74, 89.52, 99.84}},
      {{"flipflop++", "51-500", "before-first", 0, "em"}, {58.23, 71.17, 86.32, 98.68, 87.94, 57.8, 93.53, 100, 98.97}},
      {{"flipflop++", "51-500", "before-last", 0, "em"}, {13.45, 10.12, 27.06, 33.86, 34.34, 76.42, 23.25, 91.3, 100}},
      {{"text", "test", "", 128, "ppl_token"}, {31.74, 31.61, 31.27, 30.11, 32.09, 30.30, 29.46, 30.20, 30.04}},
  };
  const std::vector<std::string> attentions = {"nope", "ape", "rel", "rope", "label", "fot", "diff", "cope", "tra"};
  ASSERT_EQ(lines.size(), PaperLines().size());
  for (const auto& [measure, means] : lines) {
    for (size_t at = 0; at < attentions.size(); ++at) {
      const auto value = FindPaperValue(measure, attentions[at]);
      ASSERT_TRUE(value.has_value());
      EXPECT_EQ(value->mean, means[at]) << measure.task << " " << measure.split << " " << attentions[at];
    }
  }
}

TEST(Paper, LinesOfItsTablesAndItsNumbersMatchOneToOne) {
  size_t found = 0;
  for (const TableSpec& table : PaperTables()) {
    if (table.name == "windows") continue;  // a figure in the paper, which prints no numbers
    for (const LineSpec& line : table.lines) {
      if (FindMetric(line.measure.metric).counted) continue;  // the paper does not count runs
      EXPECT_TRUE(FindPaperValue(line.measure, "tra").has_value()) << table.name << ": " << line.label;
      ++found;
    }
  }
  EXPECT_EQ(found, PaperLines().size());
}

TEST(Paper, HasNothingOnOtherAttentionsOrMeasures) {
  EXPECT_FALSE(FindPaperValue({"flipflop", "iid", "", 0, "em"}, "alibi").has_value());
  EXPECT_FALSE(FindPaperValue({"flipflop", "iid", "", 0, "token_error"}, "tra").has_value());
  EXPECT_FALSE(FindPaperValue({"text", "test", "", 256, "ppl_token"}, "tra").has_value());
}

}  // namespace
}  // namespace tra
