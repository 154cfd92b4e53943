// Writes scalars in the format that TensorBoard reads: records of a length, its checksum, a serialised Event of
// tensorflow/core/util/event.proto, and its checksum.
#ifndef TRA_TRAIN_EVENTS_H_
#define TRA_TRAIN_EVENTS_H_

#include <cstddef>
#include <cstdint>
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

// Returns how many of these bytes, from the first on, are whole records.
size_t WholeRecords(std::string_view bytes);

}  // namespace tra

#endif  // TRA_TRAIN_EVENTS_H_
