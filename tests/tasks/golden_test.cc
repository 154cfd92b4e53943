// Compares with examples as they were when the tasks were first published. If one of these changes, results with the
// same seed are no longer results on the same data.
#include <gtest/gtest.h>

#include "tra/base/checksum.h"
#include "tra/tasks/export.h"
#include "tra/tasks/generated.h"

namespace tra {
namespace {

std::string Text(const char* task, const char* split, uint64_t seed, uint64_t index) {
  const GeneratedExamples examples(task, split, seed);
  return ExampleText(examples.At(index), examples.task(), examples.names());
}

TEST(Golden, Examples) {
  EXPECT_EQ(Text("copy", "train", 0, 3), "BOS 7 SEP 7 EOS");
  EXPECT_EQ(Text("induct", "iid", 1, 2),
            "BOS 53 153 128 26 296 173 181 111 206 225 197 174 56 144 68 54 143 44 32 142 SEP 53 153 128 26 296 173 "
            "181 111 206 225 197 174 56 144 68 54 143 44 32 142 EOS");
  EXPECT_EQ(Text("induct-query", "train", 7, 0),
            "BOS 126 12 182 108 284 250 176 5 235 80 270 237 13 76 226 43 279 190 103 123 84 130 166 79 118 135 211 "
            "SEP 126 12");
  EXPECT_EQ(Text("flipflop++", "train", 0, 17), "before-last v p g j p a p h v l z a r i u s l a o a t z a v z");
  EXPECT_EQ(Text("flipflop", "dense", 0, 0).substr(0, 64),
            "w0r0r0r0r0r0w0r0r0r0w1w1w1r1r1r1r1r1w1w0w0w0w0i0i0w1r1r1r1r1w0r0");
}

// Covers tokens and supervision of all tasks and splits, also at very large indices.
TEST(Golden, Checksums) {
  std::string all;
  for (const Task& task : Tasks()) {
    for (const Split& split : task.splits) {
      const GeneratedExamples examples(task.name, split.name, 0xFEDCBA9876543210u);
      for (const uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
        all += JsonlLine(examples.At(index), index, task, examples.names()) + "\n";
      }
    }
  }
  EXPECT_EQ(Sha256Hex(all), "f9872201944bf9cf0801a5861f96551b93b0a88b75689104fc7ab56f221d1e07");
}

}  // namespace
}  // namespace tra
