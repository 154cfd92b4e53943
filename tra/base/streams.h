// Lists everything that is drawn at random. A stream is the last word of Philox's counter: draws from two streams are
// independent, even under one seed. Every new use of randomness needs a row here.
#ifndef TRA_BASE_STREAMS_H_
#define TRA_BASE_STREAMS_H_

#include <cstddef>
#include <cstdint>

namespace tra {

enum class Stream : uint8_t {
  kAttentionDropout,
  kElementDropout,
  kSeeds,
  kLabels,
  kSampling,
  kWindowPhase,
  kWindowOrder,
  kInsertions,
  kExampleOrder,
  kTasks,
};

// Holds the words that a stream owns. They determine what a seed draws: never change or reuse one.
struct StreamWords {
  Stream stream;
  uint32_t first, last;  // both inclusive
};

constexpr StreamWords kStreams[] = {
    {Stream::kAttentionDropout, 0, 0},     // by head, query and key
    {Stream::kElementDropout, 1, 1},       // by element of a sequence, everywhere but in attention
    {Stream::kSeeds, 2, 2},                // seeds that are derived from other seeds
    {Stream::kLabels, 3, 3},               // random labels instead of positions
    {Stream::kSampling, 4, 4},             // tokens in generation
    {Stream::kWindowPhase, 16, 16},        // where in a text the windows of an epoch begin
    {Stream::kWindowOrder, 17, 22},        // the order of windows in an epoch, one word per round of a permutation
    {Stream::kInsertions, 23, 23},         // irrelevant tokens in examples that are made longer
    {Stream::kExampleOrder, 24, 29},       // the order of a file's examples in an epoch, one word per round
    {Stream::kTasks, 0x100, 0xFFFFFFFFu},  // examples, by task and split (see Task::StreamWord)
};

constexpr bool StreamsAreDisjointAndInOrder() {
  for (size_t i = 0; i < sizeof(kStreams) / sizeof(kStreams[0]); ++i) {
    if (kStreams[i].stream != static_cast<Stream>(i) || kStreams[i].first > kStreams[i].last) return false;
    if (i > 0 && kStreams[i - 1].last >= kStreams[i].first) return false;
  }
  return true;
}
static_assert(StreamsAreDisjointAndInOrder(),
              "two streams share a word, or a row does not stand at its stream's place");

constexpr uint32_t FirstOf(Stream stream) { return kStreams[static_cast<size_t>(stream)].first; }
constexpr uint32_t LastOf(Stream stream) { return kStreams[static_cast<size_t>(stream)].last; }

}  // namespace tra

#endif  // TRA_BASE_STREAMS_H_
