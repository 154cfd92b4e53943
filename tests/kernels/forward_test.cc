#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AttentionOptions Tra(bool qk_norm = true) {
  AttentionOptions options;
  options.qk_norm = qk_norm;
  options.stop_eps = kStopNever;
  return options;
}

AttentionOptions Plain(ScoreRule rule) {
  AttentionOptions options = Tra(false);
  options.rule = rule;
  return options;
}

AttentionOptions Softmax() { return Plain(ScoreRule::kSoftmax); }

TEST(Forward, MatchesReferenceOnAwkwardShapes) {
  for (const size_t length : {1, 2, 5, 17, 97, 200}) {
    for (const size_t width : {1, 8, 59, 64, 111, 128, 256}) {
      for (const AttentionOptions& options : {Tra(), Tra(false), Softmax(), Plain(ScoreRule::kForget),
                                              Plain(ScoreRule::kDistance), Plain(ScoreRule::kContextual)}) {
        SCOPED_TRACE(::testing::Message() << "rule " << int(options.rule) << " T " << length << " d " << width);
        Problem problem({2, 3, length, length, width, width}, options, static_cast<uint32_t>(length + width));
        problem.layout = length % 2 ? Layout::kTokenFirst : Layout::kHeadFirst;
        ExpectMatchesReference(problem, false);
      }
    }
  }
}

TEST(Forward, MatchesReferenceOnLongRows) {
  for (const AttentionOptions& options : {Tra(), Tra(false), Softmax(), Plain(ScoreRule::kForget),
                                          Plain(ScoreRule::kDistance), Plain(ScoreRule::kContextual)}) {
    SCOPED_TRACE(::testing::Message() << "rule " << int(options.rule));
    Problem problem({1, 2, 1025, 1025, 64, 64}, options);
    problem.layout = Layout::kTokenFirst;
    ExpectMatchesReference(problem, false);
  }
}

TEST(Forward, QueriesAreTheLastPositionsOfTheKeys) {
  for (const AttentionOptions& options : {Tra(), Softmax()}) {
    for (const size_t queries : {1, 3, 50, 170}) {
      ExpectMatchesReference(Problem({1, 2, queries, 211, 24, 24}, options), false);
    }
    // The last rows of the whole have the same bits as these rows computed alone, whether or not the tiles coincide:
    // each row is its own sum.
    Problem whole({1, 1, 211, 211, 24, 24}, options);
    Problem part = whole;
    part.shape.queries = 11;
    part.q.erase(part.q.begin(), part.q.begin() + 200 * 24);
    part.input.erase(part.input.begin(), part.input.begin() + 200);
    part.d_out.erase(part.d_out.begin(), part.d_out.begin() + 200 * 24);
    const std::vector<double> all = whole.Forward().out;
    EXPECT_TRUE(BitEqual(part.Forward().out, std::vector<double>(all.begin() + 200 * 24, all.end())));
  }
}

TEST(Forward, ValuesMayBeWiderOrNarrowerThanKeys) {
  for (const size_t value_width : {1, 7, 40, 130}) {
    ExpectMatchesReference(Problem({1, 2, 60, 60, 20, value_width}, Tra()), true);
    ExpectMatchesReference(Problem({1, 2, 60, 60, 20, value_width}, Softmax()), true);
  }
}

// Checks the example of equations 5 and 7 of the paper.
TEST(Forward, CountsOnlyKeptKeysAsInThePaper) {
  const int keep[4][4] = {{1, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 0}};
  const int count[4][4] = {{1, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 1, 0}, {2, 0, 1, 0}};
  Problem problem({1, 1, 4, 4, 4, 4}, Tra(false));
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      problem.q[i * 4 + j] = keep[i][j] ? 1 : -1;
      problem.k[i * 4 + j] = problem.v[i * 4 + j] = i == j ? 1 : 0;
    }
  }
  problem.SetLogGate(-1.5);
  for (const Result& result : {problem.Forward(), problem.Reference(), problem.Decode()}) {
    for (size_t i = 0; i < 4; ++i) {
      double sum = 0;
      for (const int c : count[i]) sum += c > 0 ? std::exp(-1.5 * c) : 0;
      for (size_t j = 0; j < 4; ++j) {
        const double want = keep[i][j] ? std::exp(-1.5 * count[i][j]) / sum : 0;
        EXPECT_NEAR(result.out[i * 4 + j], want, 1e-6) << i << "," << j;
      }
    }
  }
}

TEST(Threshold, IsStrictAndExactForIntegers) {
  // Small integers give exact dot products, many of them exactly 0; QK-norm must not turn those into something else.
  for (const bool qk_norm : {true, false}) {
    Problem problem({1, 2, 150, 150, 9, 9}, Tra(qk_norm));
    for (std::vector<double>* x : {&problem.q, &problem.k}) {
      for (double& each : *x) each = std::round(each);
    }
    const std::vector<uint8_t> mask = problem.KernelMask();
    size_t ties = 0;
    for (size_t head = 0; head < 2; ++head) {
      for (size_t i = 0; i < 150; ++i) {
        for (size_t j = 0; j < 150; ++j) {
          double dot = 0;
          for (size_t c = 0; c < 9; ++c) {
            dot += problem.q[(head * 150 + i) * 9 + c] * problem.k[(head * 150 + j) * 9 + c];
          }
          ties += dot == 0 && j <= i;
          ASSERT_EQ(mask[(head * 150 + i) * 150 + j] != 0, j <= i && dot > 0) << i << "," << j;
        }
      }
    }
    EXPECT_GT(ties, 100u);  // otherwise this tested nothing
    const std::vector<double> want = problem.Reference().out;
    EXPECT_LT(MaxError(problem.Forward().out, want), 5e-6);
    Problem last = problem;  // for decode: the last query of each head
    last.shape.queries = 1;
    std::vector<double> last_want;
    last.q.clear();
    last.input.clear();
    for (size_t head = 0; head < 2; ++head) {
      const auto row = [&](const std::vector<double>& x) {
        return x.begin() + static_cast<ptrdiff_t>(head * 150 + 149) * 9;
      };
      last.q.insert(last.q.end(), row(problem.q), row(problem.q) + 9);
      last_want.insert(last_want.end(), row(want), row(want) + 9);
      last.input.push_back(problem.input[head * 150 + 149]);
    }
    last.d_out.assign(18, 0);
    EXPECT_LT(MaxError(last.Decode().out, last_want), 5e-6);
  }
}

TEST(Threshold, RowsThatKeepNothingAreZero) {
  Problem problem({1, 2, 130, 130, 16, 16}, Tra());
  for (double& each : problem.q) each = -std::abs(each) - 0.1;
  for (double& each : problem.k) each = std::abs(each) + 0.1;
  const Result result = problem.Both();
  for (const std::vector<double>* x : {&result.out, &result.d_q, &result.d_k, &result.d_v, &result.d_input}) {
    EXPECT_EQ(MaxAbs(*x), 0.0);
  }
}

// Most keys score below zero with every query, as in a trained sparse head, so that the kernel uses its row lists.
TEST(Threshold, SparseHeadsMatchReference) {
  for (const double density : {0.0, 0.02, 0.3, 0.6}) {
    Problem problem({1, 2, 300, 300, 32, 32}, Tra());
    for (size_t row = 0; row < 600; ++row) {
      problem.q[row * 32] = 40;
      problem.k[row * 32] = std::fmod(static_cast<double>(row) * 0.618034, 1.0) < density ? 10 : -10;
    }
    ExpectMatchesReference(problem, true);
  }
}

TEST(Gates, ExtremeDecaysAreExact) {
  for (const double log_gate : {0.0, -1e-7, -60.0, -1e4, -1e30}) {
    Problem problem({1, 1, 120, 120, 16, 16}, Tra());
    problem.SetLogGate(static_cast<float>(log_gate));
    const std::vector<uint8_t> mask = problem.KernelMask();
    EXPECT_LT(MaxError(problem.Forward().out, problem.Reference(mask).out), 5e-6) << log_gate;
  }
  // A gate of exactly zero forgets all but the nearest kept key.
  Problem closed({1, 1, 60, 60, 16, 16}, Tra());
  Problem strong = closed;
  closed.SetLogGate(-std::numeric_limits<double>::infinity());
  strong.SetLogGate(-1e6);
  EXPECT_TRUE(BitEqual(closed.Forward().out, strong.Forward().out));
  for (Problem* problem : {&closed, &strong}) {  // also with dropped logits
    problem->options.dropout_on = DropoutOn::kLogits;
    problem->options.dropout_p = 0.01f;
  }
  EXPECT_LT(MaxError(closed.Forward().out, strong.Reference(strong.KernelMask()).out), 5e-6);
}

TEST(Causality, ATokenChangesNoEarlierRowBitwise) {
  for (const AttentionOptions& options : {Tra(), Tra(false), Softmax()}) {
    Problem problem({1, 2, 140, 140, 24, 24}, options);
    const std::vector<double> before = problem.Forward().out;
    for (const size_t t : {0, 1, 95, 96, 139}) {
      Problem changed = problem;
      for (size_t head = 0; head < 2; ++head) {
        for (size_t c = 0; c < 24; ++c) {
          const size_t at = (head * 140 + t) * 24 + c;
          changed.k[at] = kNaN;
          changed.v[at] = c % 2 ? kNaN : std::numeric_limits<double>::infinity();
          changed.q[at] += 1;
        }
      }
      const std::vector<double> after = changed.Forward().out;
      for (size_t head = 0; head < 2; ++head) {
        const auto begin = static_cast<ptrdiff_t>(head * 140 * 24);
        const auto end = begin + static_cast<ptrdiff_t>(t * 24);
        EXPECT_TRUE(std::equal(before.begin() + begin, before.begin() + end, after.begin() + begin)) << t;
      }
    }
  }
}

TEST(NaN, ReachesTheRowsItBelongsToAndNoOther) {
  for (const AttentionOptions& options : {Tra(), Tra(false), Softmax()}) {
    const Problem clean({1, 1, 120, 120, 16, 16}, options);
    const std::vector<double> want = clean.Forward().out;
    const auto nan_rows = [&](const Problem& problem, const std::vector<double>& out) {
      std::vector<size_t> rows;
      for (size_t i = 0; i < problem.shape.queries; ++i) {
        bool any = false, same = true;
        for (size_t c = 0; c < 16; ++c) {
          any |= std::isnan(out[i * 16 + c]);
          same &= out[i * 16 + c] == want[i * 16 + c];
        }
        EXPECT_TRUE(any || same) << "row " << i;
        if (any) rows.push_back(i);
      }
      return rows;
    };
    Problem query = clean;
    query.q[50 * 16 + 3] = kNaN;
    EXPECT_EQ(nan_rows(query, query.Forward().out), std::vector<size_t>({50}));

    Problem key = clean;  // a NaN score is kept, so every row from the key on is NaN
    key.k[50 * 16 + 3] = kNaN;
    std::vector<size_t> from_50;
    for (size_t i = 50; i < 120; ++i) from_50.push_back(i);
    EXPECT_EQ(nan_rows(key, key.Forward().out), from_50);
    EXPECT_TRUE(std::isnan(MaxAbs(key.Decode().out)));

    if (options.qk_norm) {  // an infinite key cannot be normalised
      Problem infinite = clean;
      for (const double sign : {1.0, -1.0}) {
        infinite.k[50 * 16 + 3] = sign * std::numeric_limits<double>::infinity();
        EXPECT_EQ(nan_rows(infinite, infinite.Forward().out), from_50);
        infinite.shape.queries = 3;
        infinite.q.resize(3 * 16);
        infinite.input.resize(3);
        infinite.d_out.resize(3 * 16);
        EXPECT_EQ(nan_rows(infinite, infinite.Decode().out), std::vector<size_t>({0, 1, 2}));
        infinite = clean;
      }
    }

    Problem value = clean;  // reaches only rows that keep its key
    value.v[50 * 16 + 3] = kNaN;
    std::vector<size_t> keepers;
    const std::vector<uint8_t> mask = clean.KernelMask();
    for (size_t i = 50; i < 120; ++i) {
      if (mask[i * 120 + 50]) keepers.push_back(i);
    }
    EXPECT_EQ(nan_rows(value, value.Forward().out), keepers);
  }
}

TEST(Determinism, BitEqualOverRepeatsAndWorkers) {
  for (const AttentionOptions& options :
       {Tra(), Softmax(), Plain(ScoreRule::kForget), Plain(ScoreRule::kDistance), Plain(ScoreRule::kContextual)}) {
    const Problem problem({2, 2, 333, 400, 40, 40}, options);
    const Result first = problem.Both(1);
    for (const size_t workers : {1, 2, 3, 5}) {
      const Result again = problem.Both(workers);
      EXPECT_TRUE(BitEqual(first.out, again.out)) << workers;
      EXPECT_TRUE(BitEqual(first.d_q, again.d_q)) << workers;
      EXPECT_TRUE(BitEqual(first.d_k, again.d_k)) << workers;
      EXPECT_TRUE(BitEqual(first.d_v, again.d_v)) << workers;
      if (options.rule != ScoreRule::kSoftmax) {
        EXPECT_TRUE(BitEqual(first.d_input, again.d_input)) << workers;
      }
    }
  }
}

TEST(Errors, NameTheRemedy) {
  const auto message = [](const Problem& problem) -> std::string {
    try {
      problem.Forward();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(Problem({1, 1, 4, 4, 300, 300}, Tra())).find("use more heads"), std::string::npos);
  EXPECT_NE(message(Problem({1, 1, 5, 4, 8, 8}, Tra())).find("5 queries but only 4 keys"), std::string::npos);
  AttentionOptions dropout = Tra();
  dropout.dropout_p = 1.0f;
  EXPECT_NE(message(Problem({1, 1, 4, 4, 8, 8}, dropout)).find("dropout_p must be in [0, 1)"), std::string::npos);
  AttentionOptions stop = Tra();
  stop.stop_eps = -0.5f;
  EXPECT_NE(message(Problem({1, 1, 4, 4, 8, 8}, stop)).find("stop_eps"), std::string::npos);
}

TEST(Forward, NothingToDoIsFine) {
  EXPECT_TRUE(Problem({0, 2, 4, 4, 8, 8}, Tra()).Both().out.empty());
  const Result result = Problem({1, 2, 0, 4, 8, 8}, Tra()).Both();
  EXPECT_TRUE(result.out.empty());
  EXPECT_EQ(MaxAbs(result.d_k), 0.0);
  EXPECT_EQ(MaxAbs(result.d_v), 0.0);
}

}  // namespace
}  // namespace tra::testing
