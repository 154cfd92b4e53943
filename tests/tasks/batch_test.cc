#include "tra/tasks/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tra/tasks/generated.h"

namespace tra {
namespace {

using Row = std::pair<std::vector<int64_t>, std::vector<int64_t>>;  // tokens and targets, without the padding

// Returns the rows by the number of their example, and checks the padding.
std::map<uint64_t, Row> RowsOf(const Batch& batch, const ExampleSource& source) {
  std::map<uint64_t, Row> rows;
  for (const BatchPart& part : batch.parts) {
    EXPECT_EQ(part.tokens.size(), static_cast<size_t>(part.rows * part.columns));
    EXPECT_EQ(part.targets.size(), part.tokens.size());
    EXPECT_EQ(part.sequence_ids.size(), static_cast<size_t>(part.rows));
    for (int64_t row = 0; row < part.rows; ++row) {
      const auto index = static_cast<uint64_t>(part.sequence_ids[static_cast<size_t>(row)]);
      const auto length = static_cast<ptrdiff_t>(source.At(index).tokens.size()) - 1;
      EXPECT_EQ(part.lengths[static_cast<size_t>(row)], length);
      const auto tokens = part.tokens.begin() + row * part.columns, targets = part.targets.begin() + row * part.columns;
      EXPECT_TRUE(std::all_of(tokens + length, tokens + part.columns, [](int64_t token) { return token == kPad; }));
      EXPECT_TRUE(
          std::all_of(targets + length, targets + part.columns, [](int64_t each) { return each == kUnsupervised; }));
      EXPECT_TRUE(rows.emplace(index, Row{{tokens, tokens + length}, {targets, targets + length}}).second);
      EXPECT_EQ(part.groups[static_cast<size_t>(row)], source.At(index).group);
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

// Returns the cost of positions and parts together, which MakeBatch minimises.
int64_t Cost(const Batch& batch, int64_t part_cost) {
  return batch.padded + part_cost * static_cast<int64_t>(batch.parts.size());
}

TEST(Batch, PaddingWastesLittle) {
  for (const char* task : {"copy", "induct", "induct-query", "flipflop++"}) {
    const GeneratedExamples source(task, "train", 0);
    int64_t padded = 0, symbols = 0, one_rectangle = 0;
    for (uint64_t step = 0; step < 20; ++step) {
      const Batch batch = MakeBatch(source, step * 128, 128);
      padded += batch.padded;
      symbols += batch.symbols;
      one_rectangle += 128 * batch.parts.back().columns;
    }
    EXPECT_LT(static_cast<double>(padded), 1.1 * static_cast<double>(symbols)) << task;
    EXPECT_GT(static_cast<double>(one_rectangle), 1.7 * static_cast<double>(symbols)) << task;
  }
}

TEST(Batch, PartsAreTheCheapest) {
  // Compares with every way to divide seven examples.
  for (uint64_t first = 0; first < 40; ++first) {
    const GeneratedExamples source("flipflop++", "train", 2);
    for (const int64_t part_cost : {0, 5, 20, 1000}) {
      BatchOptions options;
      options.part_cost = part_cost;
      std::vector<int64_t> lengths;
      for (uint64_t i = 0; i < 7; ++i) {
        lengths.push_back(static_cast<int64_t>(source.At(first + i).tokens.size()) - 1);
      }
      std::sort(lengths.begin(), lengths.end());
      int64_t best = INT64_MAX;
      for (unsigned cuts = 0; cuts < 64; ++cuts) {
        int64_t cost = 0, rows = 0;
        for (size_t i = 0; i < 7; ++i) {
          ++rows;
          if (i == 6 || (cuts >> i & 1) != 0) {
            cost += rows * lengths[i] + part_cost;
            rows = 0;
          }
        }
        best = std::min(best, cost);
      }
      EXPECT_EQ(Cost(MakeBatch(source, first, 7, options), part_cost), best);
    }
  }
}

TEST(Batch, PartsKeepToTheLimitOfPositions) {
  const GeneratedExamples source("copy", "201-300", 0);
  BatchOptions options;
  options.part_positions = 1500;
  const Batch batch = MakeBatch(source, 0, 50, options);
  EXPECT_EQ(RowsOf(batch, source).size(), 50u);
  for (const BatchPart& part : batch.parts) EXPECT_LE(part.rows * part.columns, 1500);
  options.part_positions = 1;
  EXPECT_EQ(MakeBatch(source, 0, 50, options).parts.size(), 50u);
}

TEST(Batch, NeedsAnExample) {
  const GeneratedExamples source("copy", "train", 0);
  EXPECT_THROW(MakeBatch(source, 0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tra
