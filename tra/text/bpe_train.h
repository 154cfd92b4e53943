// Trains a byte-level BPE on a text.
#ifndef TRA_TEXT_BPE_TRAIN_H_
#define TRA_TEXT_BPE_TRAIN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tra/text/bpe_model.h"

namespace tra {

// Learns a vocabulary: the 256 bytes in GPT-2's order, then vocabulary - 257 merges, then end of text. Each merge makes
// a token of the pair of neighbours that occurs most often within the pieces of the text; ties go to the smaller left
// id, then to the smaller right id. The same text gives the same model on any number of threads (0: one per core).
// Throws std::invalid_argument for a vocabulary below 257, or one so large that no pair is left that occurs twice.
BpeModel TrainBpe(std::string_view text, int64_t vocabulary, size_t threads = 0);

}  // namespace tra

#endif  // TRA_TEXT_BPE_TRAIN_H_
