#include "tra/train/events.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

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

// Returns the message in a record, which says nothing else in these tests.
std::string MessageOf(const std::string& record) { return record.substr(12, record.size() - 16); }

// A message of protocol buffers: its fields by number, in order. Numbers are kept as their bytes.
std::multimap<int, std::string> FieldsOf(const std::string& message) {
  std::multimap<int, std::string> fields;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const uint64_t key = varint();
    const size_t begin = at;
    size_t size = 0;
    if ((key & 7) == 0) {
      varint();
      size = at - begin;
      at = begin;
    } else {
      size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : static_cast<size_t>(varint());
    }
    fields.emplace(static_cast<int>(key >> 3), message.substr(at, size));
    at += size;
  }
  return fields;
}

std::string Only(const std::string& message, int field) {
  const auto fields = FieldsOf(message);
  EXPECT_EQ(fields.count(field), 1u) << field;
  return fields.find(field)->second;
}

TEST(Events, TextIsATensorOfOneStringForTheTextPage) {
  const std::string value = Only(Only(MessageOf(TextEvent(1.5, "configuration", "a = 1")), 5), 1);
  EXPECT_EQ(Only(value, 1), "configuration");
  EXPECT_EQ(Only(Only(Only(value, 9), 1), 1), "text");  // metadata, of the plugin, its name
  const std::string tensor = Only(value, 8);
  EXPECT_EQ(Only(tensor, 1), "\x07");              // a string
  EXPECT_EQ(Only(tensor, 2), "\x12\x02\x08\x01");  // of one dimension of size 1
  EXPECT_EQ(Only(tensor, 8), "a = 1");
}

TEST(Events, HyperparametersAreOfTheirTypes) {
  const std::string began = MessageOf(
      RunBeganEvent(1.5, {{"train.lr", 0.001}, {"model.attention", "tra"}, {"flag", true}, {"data.lengths", {1, 50}}}));
  const std::string value = Only(Only(began, 5), 1);
  EXPECT_EQ(Only(value, 1), "_hparams_/session_start_info");
  const std::string plugin = Only(Only(value, 9), 1);
  EXPECT_EQ(Only(plugin, 1), "hparams");
  const std::string start = Only(Only(plugin, 2), 3);  // of HParamsPluginData, its session_start_info
  std::map<std::string, std::string> values;
  for (const auto& [number, entry] : FieldsOf(start)) {
    if (number == 1) values[Only(entry, 1)] = Only(entry, 2);
  }
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(Number(Only(values["train.lr"], 2), 0, 8), 0x3f50624dd2f1a9fcu);  // 0.001 as a double
  EXPECT_EQ(Only(values["model.attention"], 3), "tra");
  EXPECT_EQ(Only(values["flag"], 4), "\x01");
  EXPECT_EQ(Only(values["data.lengths"], 3), "[1,50]");

  const std::string ended = Only(Only(MessageOf(RunEndedEvent(2.5)), 5), 1);
  EXPECT_EQ(Only(ended, 1), "_hparams_/session_end_info");
  EXPECT_EQ(Only(Only(Only(Only(Only(ended, 9), 1), 2), 4), 1), "\x01");  // success
}

TEST(Events, WholeRecordsEndWhereTheLastOneDoes) {
  const std::string head = EventsHead(0), both = head + ScalarsEvent(1.5, 300, {{"a/b", 2.0}});
  EXPECT_EQ(WholeRecords(both), both.size());
  for (size_t cut = head.size(); cut < both.size(); ++cut) EXPECT_EQ(WholeRecords(both.substr(0, cut)), head.size());
  EXPECT_EQ(WholeRecords(head.substr(1)), 0u);
}

}  // namespace
}  // namespace tra
