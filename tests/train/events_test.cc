#include "tra/train/events.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tra {
namespace {

TEST(Events, ChecksumsAreCrc32c) {
  // RFC 3720, B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
}

uint64_t Number(const std::string& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

TEST(Events, RecordsAreAsTensorBoardReadsThem) {
  const std::string record = ScalarsEvent(1.5, 300, {{"a/b", 2.0}});
  const uint64_t length = Number(record, 0, 8);
  ASSERT_EQ(record.size(), 8 + 4 + length + 4);
  const auto masked = [](uint32_t crc) { return static_cast<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u); };
  EXPECT_EQ(Number(record, 8, 4), masked(Crc32c(record.substr(0, 8))));
  EXPECT_EQ(Number(record, 12 + length, 4), masked(Crc32c(record.substr(12, length))));
  // Event {1: double 1.5, 2: varint 300, 5: Summary {1: Value {1: "a/b", 2: float 2}}}, by hand.
  const std::string want(
      "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"
      "\x10\xac\x02"
      "\x2a\x0c\x0a\x0a\x0a\x03"
      "a/b\x15\x00\x00\x00\x40",
      26);
  EXPECT_EQ(record.substr(12, length), want);
  EXPECT_NE(EventsHead(0).find("brain.Event:2"), std::string::npos);
}

TEST(Events, WholeRecordsEndWhereTheLastOneDoes) {
  const std::string head = EventsHead(0), both = head + ScalarsEvent(1.5, 300, {{"a/b", 2.0}});
  EXPECT_EQ(WholeRecords(both), both.size());
  for (size_t cut = head.size(); cut < both.size(); ++cut) EXPECT_EQ(WholeRecords(both.substr(0, cut)), head.size());
  EXPECT_EQ(WholeRecords(head.substr(1)), 0u);
}

}  // namespace
}  // namespace tra
