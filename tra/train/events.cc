#include "tra/train/events.h"

#include <array>
#include <cstring>

namespace tra {
namespace {

template <typename T>
std::string Bytes(T value) {  // little-endian, like all machines we build for
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// In protocol buffers a field is its number and the kind of its value, then the value.
enum Kind : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Field(int number, Kind kind, const std::string& value) {
  const std::string head = Varint(static_cast<uint64_t>(number) << 3 | kind);
  return kind == kBytes ? head + Varint(value.size()) + value : head + value;
}

std::string Record(const std::string& event) {
  // Checksums are masked, because checksums of data that contains checksums are weak.
  const auto masked = [](const std::string& bytes) {
    const uint32_t crc = Crc32c(bytes);
    return Bytes(static_cast<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u));
  };
  const std::string length = Bytes(static_cast<uint64_t>(event.size()));
  return length + masked(length) + event + masked(event);
}

std::string WallTime(double seconds) { return Field(1, kFixed64, Bytes(seconds)); }

// Returns the metadata of a summary, which names the page that shows it and holds what that page alone understands.
std::string Metadata(const std::string& page, const std::string& content) {
  return Field(9, kBytes, Field(1, kBytes, Field(1, kBytes, page) + Field(2, kBytes, content)));
}

std::string SummaryEvent(double wall_time, const std::string& tag, const std::string& value) {
  return Record(WallTime(wall_time) + Field(5, kBytes, Field(1, kBytes, Field(1, kBytes, tag) + value)));
}

// Returns a google.protobuf.Value.
std::string Value(const nlohmann::json& value) {
  if (value.is_boolean()) return Field(4, kVarint, Varint(value.get<bool>() ? 1 : 0));
  if (value.is_number()) return Field(2, kFixed64, Bytes(value.get<double>()));
  return Field(3, kBytes, value.is_string() ? value.get<std::string>() : value.dump());
}

constexpr char kHparams[] = "hparams";

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ crc >> 8;
  return ~crc;
}

std::string EventsHead(double wall_time) { return Record(WallTime(wall_time) + Field(3, kBytes, "brain.Event:2")); }

std::string ScalarsEvent(double wall_time, int64_t step, const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += Field(1, kBytes, Field(1, kBytes, tag) + Field(2, kFixed32, Bytes(static_cast<float>(value))));
  }
  return Record(WallTime(wall_time) + Field(2, kVarint, Varint(static_cast<uint64_t>(step))) +
                Field(5, kBytes, summary));
}

std::string TextEvent(double wall_time, const std::string& tag, const std::string& markdown) {
  constexpr uint64_t kString = 7;  // of tensorflow.DataType
  const std::string shape = Field(2, kBytes, Field(1, kVarint, Varint(1)));
  const std::string tensor = Field(1, kVarint, Varint(kString)) + Field(2, kBytes, shape) + Field(8, kBytes, markdown);
  return SummaryEvent(wall_time, tag, Metadata("text", "") + Field(8, kBytes, tensor));
}

std::string RunBeganEvent(double wall_time, const Hyperparameters& hyperparameters) {
  std::string start;
  for (const auto& [name, value] : hyperparameters) {  // entries of a map are messages of a key and a value
    start += Field(1, kBytes, Field(1, kBytes, name) + Field(2, kBytes, Value(value)));
  }
  start += Field(5, kFixed64, Bytes(wall_time));
  return SummaryEvent(wall_time, "_hparams_/session_start_info", Metadata(kHparams, Field(3, kBytes, start)));
}

std::string RunEndedEvent(double wall_time) {
  constexpr uint64_t kSuccess = 1;  // of tensorboard.hparams.Status
  const std::string end = Field(1, kVarint, Varint(kSuccess)) + Field(2, kFixed64, Bytes(wall_time));
  return SummaryEvent(wall_time, "_hparams_/session_end_info", Metadata(kHparams, Field(4, kBytes, end)));
}

size_t WholeRecords(std::string_view bytes) {
  constexpr size_t kLength = sizeof(uint64_t), kSum = sizeof(uint32_t);
  size_t whole = 0;
  while (bytes.size() - whole >= kLength + 2 * kSum) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + whole, kLength);
    const size_t left = bytes.size() - whole - kLength - 2 * kSum;
    if (length > left) break;
    whole += kLength + 2 * kSum + static_cast<size_t>(length);
  }
  return whole;
}

}  // namespace tra
