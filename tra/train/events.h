// Writes scalars, text and hyperparameters in the format that TensorBoard reads: records of a length, its checksum, a
// serialised Event of tensorflow/core/util/event.proto, and its checksum.
#ifndef TRA_TRAIN_EVENTS_H_
#define TRA_TRAIN_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tra {

// Computes CRC-32C (Castagnoli, RFC 3720), for which Debian has no C++ library.
uint32_t Crc32c(std::string_view bytes);

// Return the record that every such file begins with, and a record of scalars by tag.
std::string EventsHead(double wall_time);
std::string ScalarsEvent(double wall_time, int64_t step, const std::vector<std::pair<std::string, double>>& scalars);

// Returns the record of a text in Markdown, which the text page shows.
std::string TextEvent(double wall_time, const std::string& tag, const std::string& markdown);

// Return the records between which a run is a row of the hparams page. Hyperparameters are texts, numbers and truth
// values; anything else becomes text. The columns beside them are the last values of the run's scalars, which the page
// finds by itself, as it finds what differs between runs.
using Hyperparameters = std::vector<std::pair<std::string, nlohmann::json>>;
std::string RunBeganEvent(double wall_time, const Hyperparameters& hyperparameters);
std::string RunEndedEvent(double wall_time);
// Returns how many of these bytes, from the first on, are whole records.
size_t WholeRecords(std::string_view bytes);

}  // namespace tra

#endif  // TRA_TRAIN_EVENTS_H_
