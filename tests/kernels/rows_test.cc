// Tests that AttentionRows shows what the fused kernels compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/kernels/every_target.h"
#include "tests/kernels/problem.h"
#include "tra/kernels/attention_rows.h"

namespace tra::testing {
namespace {

class Rows : public EveryTarget {};
TRA_ON_EVERY_TARGET(Rows);

std::vector<AttentionShape> AwkwardShapes() {
  return {{1, 1, 1, 1, 8, 8}, {2, 3, 17, 17, 5, 7}, {1, 2, 97, 140, 59, 33}, {1, 1, 205, 205, 64, 64}};
}

AttentionOptions OptionsOf(const RuleInfo& rule, bool qk_norm) {
  AttentionOptions options;
  options.rule = rule.rule;
  options.qk_norm = qk_norm;
  options.stop_eps = kStopNever;
  return options;
}

template <class Check>
void ForEachProblem(const Check& check) {
  for (const RuleInfo& rule : kRules) {
    for (const bool qk_norm : {true, false}) {
      for (const AttentionShape& shape : AwkwardShapes()) {
        const Problem problem(shape, OptionsOf(rule, qk_norm));
        SCOPED_TRACE(std::string(rule.name) + (qk_norm ? ", QK-norm" : "") + ", keys " + std::to_string(shape.keys));
        check(problem);
      }
    }
  }
}

std::vector<uint8_t> KeptIn(const std::vector<uint8_t>& state) {
  std::vector<uint8_t> kept;
  for (const uint8_t each : state) kept.push_back(each >= static_cast<uint8_t>(KeyState::kKept));
  return kept;
}

// -inf in both counts as equal.
double MaxLogitError(std::vector<double> a, std::vector<double> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isinf(a[i]) && a[i] == b[i]) a[i] = b[i] = 0;
  }
  return MaxError(a, b);
}

TEST_P(Rows, EveryPartIsThatOfTheFloat64Reference) {
  ForEachProblem([](const Problem& problem) {
    const RowsResult rows = problem.Rows(problem.Whole());
    const RowsResult expected = problem.RowsReference(problem.Whole(), KeptIn(rows.state));
    EXPECT_EQ(rows.state, expected.state);
    // fp32 scores of up to 256 channels; terms are sums of up to 205 gates. Both are of the order of 10.
    EXPECT_LT(MaxError(rows.score, expected.score), 1e-5);
    EXPECT_LT(MaxError(rows.position, expected.position), 1e-4);
    EXPECT_LT(MaxError(rows.term, expected.term), 1e-4);
    EXPECT_LT(MaxLogitError(rows.logit, expected.logit), 1e-4);
    EXPECT_LT(MaxError(rows.weight, expected.weight), 1e-5);
  });
}

TEST_P(Rows, WeightsTimesValuesAreTheFusedOutput) {
  ForEachProblem([](const Problem& problem) {
    const AttentionShape& shape = problem.shape;
    const std::vector<double> fused = problem.Forward().out;
    const RowsResult rows = problem.Rows(problem.Whole());
    std::vector<double> out(fused.size());
    for (size_t head = 0; head < problem.Heads(); ++head) {
      for (size_t i = 0; i < shape.queries; ++i) {
        for (size_t j = 0; j < shape.keys; ++j) {
          const double weight = rows.weight[(head * shape.queries + i) * shape.keys + j];
          for (size_t c = 0; c < shape.value_width; ++c) {
            out[(head * shape.queries + i) * shape.value_width + c] +=
                weight * problem.v[(head * shape.keys + j) * shape.value_width + c];
          }
        }
      }
    }
    EXPECT_LT(MaxError(out, fused), 1e-5);
  });
}

TEST_P(Rows, KeptKeysAreThoseOfTheFusedKernel) {
  for (const bool qk_norm : {true, false}) {
    const Problem problem({2, 2, 150, 170, 24, 24}, OptionsOf(InfoOf(ScoreRule::kThreshold), qk_norm));
    EXPECT_EQ(KeptIn(problem.Rows(problem.Whole()).state), problem.KernelMask());
  }
}

TEST_P(Rows, APartIsThatPartOfTheWhole) {
  for (const RuleInfo& rule : kRules) {
    SCOPED_TRACE(rule.name);
    AttentionOptions options = OptionsOf(rule, true);
    options.stop_eps = kDefaultStopEps;
    const Problem problem({1, 2, 300, 330, 16, 16}, options);
    const RowsResult whole = problem.Rows(problem.Whole());
    const Rectangle part = {131, 40, 17, 122};
    const RowsResult rows = problem.Rows(part);
    for (size_t head = 0; head < 2; ++head) {
      for (size_t i = 0; i < part.queries; ++i) {
        const size_t of_row = head * part.queries + i, in_whole = head * 300 + part.first_query + i;
        ASSERT_EQ(rows.stopped_at[of_row], whole.stopped_at[in_whole]);
        ASSERT_EQ(rows.unseen[of_row], whole.unseen[in_whole]);
        for (size_t j = 0; j < part.keys; ++j) {
          const size_t a = of_row * part.keys + j, b = in_whole * 330 + part.first_key + j;
          ASSERT_EQ(rows.state[a], whole.state[b]);
          ASSERT_EQ(rows.score[a], whole.score[b]);
          ASSERT_EQ(rows.position[a], whole.position[b]);
          ASSERT_EQ(rows.logit[a], whole.logit[b]);
          ASSERT_EQ(rows.weight[a], whole.weight[b]);
        }
      }
    }
  }
}

// A walk goes on for a whole tile if one of its queries decays less than the others, even if a part lacks that query.
TEST_P(Rows, APartStopsWhereTheWholeDoes) {
  AttentionOptions options = OptionsOf(InfoOf(ScoreRule::kThreshold), true);
  options.stop_eps = kDefaultStopEps;
  Problem problem({1, 1, 700, 700, 16, 16}, options);
  problem.SetLogGate(std::log(0.5));
  for (size_t query = 1; query < 700; query += 2) problem.input[query] = 0;
  const RowsResult whole = problem.Rows(problem.Whole());
  for (const size_t query : {528, 672, 698}) {
    const RowsResult row = problem.Rows({query, 1, 0, 700});
    EXPECT_EQ(row.stopped_at[0], whole.stopped_at[query]) << query;
    EXPECT_EQ(row.state, std::vector<uint8_t>(whole.state.begin() + static_cast<ptrdiff_t>(query) * 700,
                                              whole.state.begin() + static_cast<ptrdiff_t>(query + 1) * 700));
  }
}

TEST_P(Rows, TheStopIsWhereTheFusedKernelStopsAndItsBoundHolds) {
  for (const bool qk_norm : {true, false}) {
    AttentionOptions options = OptionsOf(InfoOf(ScoreRule::kThreshold), qk_norm);
    options.stop_eps = 1e-6f;
    Problem problem({1, 2, 700, 700, 16, 16}, options);
    problem.SetLogGate(std::log(0.8));
    const RowsResult rows = problem.Rows(problem.Whole());
    EXPECT_EQ(rows.stopped_at, problem.Forward().first_key);
    EXPECT_GT(*std::max_element(rows.stopped_at.begin(), rows.stopped_at.end()), 0);
    problem.options.stop_eps = kStopNever;
    const RowsResult exact = problem.Rows(problem.Whole());
    for (size_t row = 0; row < rows.stopped_at.size(); ++row) {
      const auto stop = static_cast<size_t>(rows.stopped_at[row]);
      ASSERT_EQ(stop == 0, rows.unseen[row] == 0);
      // The walk may stop only where every row of its tile allows it. Exponentials round: 1e-4 of the bound.
      ASSERT_LE(rows.unseen[row], 1e-6 * (1 + 1e-4));
      double skipped = 0;
      for (size_t j = 0; j < stop; ++j) {
        const size_t at = row * 700 + j;
        skipped += exact.weight[at];
        ASSERT_EQ(rows.weight[at], 0);
        ASSERT_EQ(rows.state[at] == static_cast<uint8_t>(KeyState::kSkipped), exact.logit[at] > -INFINITY);
      }
      ASSERT_LE(skipped, rows.unseen[row]);
    }
  }
}

TEST_P(Rows, ThePaperExampleHasThePaperCounts) {
  // Equations 5 and 7 of the paper: which keys are kept, and their distances. Channel j of a query says whether it
  // keeps key j.
  const double keep[4][4] = {{1, -1, 0, 0}, {1, -1, 0, 0}, {-1, 1, 1, 0}, {1, -1, 1, -1}};
  AttentionOptions options = OptionsOf(InfoOf(ScoreRule::kThreshold), false);
  Problem problem({1, 1, 4, 4, 4, 4}, options);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      problem.q[i * 4 + j] = keep[i][j];
      problem.k[i * 4 + j] = i == j ? 1 : 0;
    }
  }
  const std::vector<double> counts = {1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 1, 0, 2, 0, 1, 0};
  EXPECT_EQ(problem.Rows(problem.Whole()).position, counts);
}

TEST_P(Rows, NanIsShown) {
  Problem problem({1, 1, 60, 60, 16, 16}, OptionsOf(InfoOf(ScoreRule::kThreshold), true));
  problem.k[30 * 16] = NAN;
  const RowsResult rows = problem.Rows(problem.Whole());
  EXPECT_TRUE(std::isnan(rows.score[50 * 60 + 30]));
  EXPECT_EQ(rows.state[50 * 60 + 30], static_cast<uint8_t>(KeyState::kKept));
  EXPECT_FALSE(std::isnan(rows.score[50 * 60 + 29]));
  EXPECT_FALSE(std::isnan(rows.score[20 * 60 + 10]));
}

std::string ErrorOf(const Problem& problem, const Rectangle& part) {
  try {
    problem.Rows(part);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(RowsErrors, ARectangleOutsideOfTheProblemIsNamed) {
  const Problem problem({1, 1, 10, 20, 8, 8}, OptionsOf(InfoOf(ScoreRule::kThreshold), true));
  EXPECT_EQ(ErrorOf(problem, {4, 7, 0, 20}), "attention rows: queries 4 to 11 were asked for, there are 10");
  EXPECT_EQ(ErrorOf(problem, {0, 10, 21, 0}), "attention rows: keys 21 to 21 were asked for, there are 20");
  EXPECT_EQ(ErrorOf(problem, {0, 10, 0, 20}), "no error");
}

TEST(RowsErrors, DropoutIsRefused) {
  AttentionOptions options = OptionsOf(InfoOf(ScoreRule::kThreshold), true);
  options.dropout_on = DropoutOn::kWeights;
  options.dropout_p = 0.1f;
  const Problem problem({1, 1, 10, 10, 8, 8}, options);
  EXPECT_EQ(ErrorOf(problem, problem.Whole()), "attention rows have no dropout: set dropout_p to 0");
}

}  // namespace
}  // namespace tra::testing
