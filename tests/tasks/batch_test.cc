#include "tra/tasks/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tra/tasks/generated.h"

namespace tra {
namespace {

using Row = std::pair<std::vector<int64_t>, std::vector<int64_t>>;  // tokens and targets

// Returns the sequences by the number of their example, and checks the offsets.
std::map<uint64_t, Row> RowsOf(const Batch& batch, const ExampleSource& source) {
  std::map<uint64_t, Row> rows;
  for (const FlatBatch& part : batch.parts) {
    EXPECT_EQ(part.offsets.size(), part.Sequences() + 1);
    EXPECT_EQ(part.offsets.front(), 0);
    EXPECT_EQ(part.offsets.back(), part.Positions());
    EXPECT_EQ(part.targets.size(), part.tokens.size());
    for (size_t i = 0; i < part.Sequences(); ++i) {
      const auto index = static_cast<uint64_t>(part.sequence_ids[i]);
      const int32_t begin = part.offsets[i], end = part.offsets[i + 1];
      EXPECT_EQ(static_cast<size_t>(end - begin) + 1, source.At(index).tokens.size());
      EXPECT_EQ(part.groups[i], source.At(index).group);
      const auto cut = [&](const std::vector<int64_t>& x) {
        return std::vector<int64_t>(x.begin() + begin, x.begin() + end);
      };
      EXPECT_TRUE(rows.emplace(index, Row{cut(part.tokens), cut(part.targets)}).second);
    }
  }
  return rows;
}

TEST(Batch, TargetsAreTheNextTokensWhereTheyAreAnswers) {
  for (const Task& task : Tasks()) {
    const GeneratedExamples source(task.name, "train", 0);
    const Batch batch = MakeBatch(source, 40, 9);
    const std::map<uint64_t, Row> rows = RowsOf(batch, source);
    ASSERT_EQ(rows.size(), 9u);
    int64_t answers = 0, symbols = 0;
    for (const auto& [index, row] : rows) {
      const Example example = source.At(index);
      ASSERT_EQ(row.first.size() + 1, example.tokens.size());
      for (size_t at = 0; at < row.first.size(); ++at) {
        ASSERT_EQ(row.first[at], example.tokens[at]);
        ASSERT_EQ(row.second[at], example.supervised[at + 1] != 0 ? example.tokens[at + 1] : kUnsupervised);
        answers += row.second[at] != kUnsupervised ? 1 : 0;
      }
      symbols += static_cast<int64_t>(row.first.size());
    }
    EXPECT_EQ(rows.begin()->first, 40u);
    EXPECT_EQ(rows.rbegin()->first, 48u);
    EXPECT_EQ(batch.answers, answers);
    EXPECT_EQ(batch.symbols, symbols);
  }
}

TEST(Batch, WhatAStepSeesDoesNotDependOnBatchSizesOrThreads) {
  const GeneratedExamples source("copy", "train", 5);
  const std::map<uint64_t, Row> whole = RowsOf(MakeBatch(source, 0, 96), source);
  for (const int64_t size : {1, 7, 32}) {
    std::vector<std::map<uint64_t, Row>> parts(static_cast<size_t>((96 + size - 1) / size));
    std::vector<std::thread> threads;
    for (size_t part = 0; part < parts.size(); ++part) {
      threads.emplace_back([&, part] {
        const auto first = static_cast<int64_t>(part) * size;
        const GeneratedExamples own("copy", "train", 5);
        parts[part] = RowsOf(
            MakeBatch(part % 2 == 0 ? source : own, static_cast<uint64_t>(first), std::min(size, 96 - first)), source);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::map<uint64_t, Row> all;
    for (const auto& part : parts) all.insert(part.begin(), part.end());
    EXPECT_EQ(all, whole) << "batches of " << size;
  }
}

TEST(Batch, WithoutALimitThereIsOnePart) {
  for (const Task& task : Tasks()) {
    const Batch batch = MakeBatch(GeneratedExamples(task.name, "train", 0), 0, 128);
    ASSERT_EQ(batch.parts.size(), 1u);
    EXPECT_EQ(batch.parts[0].Positions(), batch.symbols);  // no padding
  }
}

TEST(Batch, PartsKeepToTheLimitOfPositions) {
  const GeneratedExamples source("copy", "201-300", 0);
  const Batch batch = MakeBatch(source, 0, 50, 1500);
  EXPECT_EQ(RowsOf(batch, source), RowsOf(MakeBatch(source, 0, 50), source));
  EXPECT_GT(batch.parts.size(), 1u);
  for (const FlatBatch& part : batch.parts) EXPECT_LE(part.Positions(), 1500);
  EXPECT_EQ(MakeBatch(source, 0, 50, 1).parts.size(), 50u);  // an example is not divided
}

TEST(Batch, NeedsAnExample) {
  const GeneratedExamples source("copy", "train", 0);
  EXPECT_THROW(MakeBatch(source, 0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tra
