// Tests that every damaged file is either refused with a SafetensorsError or read exactly as its header says.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/base/files.h"
#include "tra/model/safetensors.h"

namespace tra {
namespace {

using Bytes = std::string;
using Random = std::mt19937;

size_t Below(Random& random, size_t n) { return random() % n; }

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<Bytes> Seeds() {
  const TemporaryDirectory directory;
  const auto written = [&](const std::map<std::string, at::Tensor>& tensors,
                           const std::map<std::string, std::string>& metadata) {
    WriteSafetensors(directory / "seed", tensors, metadata);
    return ReadBytes(directory / "seed");
  };
  const at::Tensor x = at::arange(6);
  return {written({}, {}), written({{"a", x.to(at::kFloat)}}, {}),
          written({{"w", x.view({2, 3}).to(at::kFloat)}, {"b", at::zeros({0, 4})}, {"s", at::ones({})}}, {{"k", "v"}}),
          written({{"h", x.to(at::kHalf)},
                   {"m", x.gt(2)},
                   {"i", x},
                   {"\"größe\"\n", x.to(at::kChar)},
                   {"c", x.to(at::kShort)},
                   {"d", x.view({1, 6, 1}).to(at::kDouble)}},
                  {{"step", "12"}, {"text", "ünï \\ \"q\""}})};
}

uint64_t HeaderLength(const Bytes& file) {
  uint64_t length = 0;
  if (file.size() >= sizeof(length)) std::memcpy(&length, file.data(), sizeof(length));
  return length;
}

void SetHeaderLength(Bytes& file, uint64_t length) {
  if (file.size() >= sizeof(length)) std::memcpy(file.data(), &length, sizeof(length));
}

// Tells whether the file is long enough for the header length that it states.
bool HasHeader(const Bytes& file) { return file.size() >= 8 && HeaderLength(file) <= file.size() - 8; }

// Replaces a random number in the header by another one. Adjusts the header length, because otherwise the file would be
// refused before anything else is checked.
void EditNumber(Bytes& file, Random& random) {
  if (!HasHeader(file)) return;
  const size_t end = 8 + HeaderLength(file);
  const auto digit = [&](size_t i) { return i < end && file[i] >= '0' && file[i] <= '9'; };
  std::vector<size_t> starts;
  for (size_t i = 8; i < end; ++i) {
    if (digit(i) && !digit(i - 1)) starts.push_back(i);
  }
  if (starts.empty()) return;
  const size_t start = starts[Below(random, starts.size())];
  size_t stop = start;
  while (digit(stop)) ++stop;
  static const std::vector<std::string> kNumbers = Words(
      "0 1 2 3 4 6 8 12 24 48 -1 -0 01 1.0 1e3 1e99 2147483648 4294967296 4611686018427387904 9223372036854775807 "
      "9223372036854775808 18446744073709551615 18446744073709551616 null true \"1\" [1] [] {} 1,1 0,0,0");
  const std::string& number = kNumbers[Below(random, kNumbers.size())];
  file.replace(start, stop - start, number);
  SetHeaderLength(file, HeaderLength(file) + number.size() - (stop - start));
}

// Inserts words of the format where they do not belong, and adjusts the header length.
void InsertToken(Bytes& file, Random& random) {
  if (!HasHeader(file)) return;
  const uint64_t length = HeaderLength(file);
  static const std::vector<std::string> kTokens = [] {
    std::vector<std::string> tokens = Words(
        "{ } [ ] , : \" \\u0000 \\ud8 \xff \"a\": null \"dtype\": \"F64\" \"BOOL\" __metadata__ \"a\":{}, "
        "\"q\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},");
    for (const char c : {' ', '\0'}) tokens.emplace_back(1, c);
    for (const char c : {'[', '{'}) tokens.emplace_back(300, c);
    return tokens;
  }();
  const std::string& token = kTokens[Below(random, kTokens.size())];
  file.insert(8 + Below(random, length + 1), token);
  SetHeaderLength(file, length + token.size());
}

// Makes changes that leave the JSON valid, and sometimes even the file: only these reach the last checks.
void EditEntry(Bytes& file, Random& random) {
  if (!HasHeader(file)) return;
  const uint64_t length = HeaderLength(file);
  nlohmann::json header = nlohmann::json::parse(file.begin() + 8, file.begin() + 8 + length, nullptr, false);
  if (!header.is_object() || header.empty()) return;
  auto entry = header.begin();
  std::advance(entry, Below(random, header.size()));
  if (!entry->is_object() || !entry->contains("data_offsets") || !entry->contains("shape")) return;
  nlohmann::json& shape = entry->at("shape");
  nlohmann::json& offsets = entry->at("data_offsets");
  static const std::vector<std::string> kDtypes = Words("F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL F8_E4M3");
  switch (Below(random, 4)) {
    case 0:
      entry.value()["dtype"] = kDtypes[Below(random, kDtypes.size())];
      break;
    case 1:
      if (shape.is_array()) shape.insert(shape.begin(), Below(random, 3));
      break;
    case 2:
      if (shape.is_array()) std::reverse(shape.begin(), shape.end());
      break;
    default: {
      const int by = static_cast<int>(Below(random, 17)) - 8;
      if (!offsets.is_array()) return;
      for (nlohmann::json& offset : offsets) {
        if (offset.is_number_unsigned()) offset = offset.get<uint64_t>() + by;
      }
    }
  }
  const std::string edited = header.dump();
  file.replace(8, length, edited);
  SetHeaderLength(file, edited.size());
}

void FlipBit(char& byte, Random& random) { byte = static_cast<char>(byte ^ (1 << Below(random, 8))); }

void Mutate(Bytes& file, Random& random) {
  switch (Below(random, 12)) {
    case 0:
      if (file.empty()) break;
      FlipBit(file[Below(random, file.size())], random);
      break;
    case 1:
      file.resize(Below(random, file.size() + 1));
      break;
    case 2: {
      const size_t at = Below(random, file.size() + 1), count = 1 + Below(random, 9);
      file.insert(at, count, static_cast<char>(random()));
      break;
    }
    case 3: {
      const size_t at = Below(random, file.size() + 1);
      file.erase(at, 1 + Below(random, 9));
      break;
    }
    case 4:
      SetHeaderLength(file, HeaderLength(file) + Below(random, 17) - 8);
      break;
    case 5: {
      const uint64_t high = random(), low = random();
      SetHeaderLength(file, (high << 32 | low) >> Below(random, 64));
      break;
    }
    case 6:
      InsertToken(file, random);
      break;
    case 7:
    case 8:
    case 9:
      EditEntry(file, random);
      break;
    default:
      EditNumber(file, random);
  }
}

// Compares with a second reader that parses the header into a tree. Such a tree cannot show duplicates, but files with
// duplicates are refused by the first reader.
void ExpectFaithful(const SafetensorsFile& file, const char* bytes, size_t size) {
  uint64_t length = 0;
  std::memcpy(&length, bytes, sizeof(length));
  const nlohmann::json header = nlohmann::json::parse(bytes + 8, bytes + 8 + length);
  const char* data = bytes + 8 + length;
  size_t covered = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const nlohmann::json& entry = header.at(name);
    ASSERT_EQ(tensor.sizes().vec(), entry.at("shape").get<std::vector<int64_t>>());
    static const std::map<std::string, at::ScalarType> kDtypes = {
        {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"I64", at::kLong},
        {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},  {"U8", at::kByte},       {"BOOL", at::kBool}};
    ASSERT_EQ(tensor.scalar_type(), kDtypes.at(entry.at("dtype")));
    const uint64_t begin = entry.at("data_offsets").at(0), end = entry.at("data_offsets").at(1);
    ASSERT_EQ(tensor.nbytes(), end - begin);
    covered += tensor.nbytes();
    if (begin == end) continue;
    ASSERT_EQ(std::memcmp(tensor.data_ptr(), data + begin, end - begin), 0);
  }
  ASSERT_EQ(covered, size - 8 - length);
  const nlohmann::json metadata = header.value("__metadata__", nlohmann::json::object());
  ASSERT_EQ(file.metadata, (metadata.get<std::map<std::string, std::string>>()));
  ASSERT_EQ(file.tensors.size() + header.count("__metadata__"), header.size());
}

TEST(SafetensorsFuzz, DamagedFilesAreRefusedOrReadAsTheySay) {
  constexpr int kPerSeed = 15'000;
  const std::vector<Bytes> seeds = Seeds();
  // Counts the refusals by kind: the mutations are useful only if all kinds occur.
  std::map<std::string, int> refusals;
  for (const char* kind : {"cannot hold a safetensors header",
                           "beyond the limit",
                           "in a file of",
                           "not a JSON object",
                           "not JSON in UTF-8",
                           "appears twice",
                           "lacks",
                           "unknown field",
                           "must hold whole numbers",
                           "must be an object",
                           "must be a string",
                           "must be an array",
                           "two numbers",
                           "not supported",
                           "too large",
                           "end before",
                           "outside the data",
                           "but dtype and shape need",
                           "overlaps",
                           "a hole",
                           "trailing bytes",
                           "neither 0 nor 1"}) {
    refusals[kind] = 0;
  }
  int changed_and_read = 0;
  for (size_t s = 0; s < seeds.size(); ++s) {
    Random random(static_cast<unsigned>(s));
    for (int i = 0; i < kPerSeed; ++i) {
      Bytes file = seeds[s];
      const size_t mutations = 1 + Below(random, 3);
      for (size_t m = 0; m < mutations; ++m) Mutate(file, random);
      // A block of the exact size on the heap lets a sanitizer see any read beyond it.
      const std::unique_ptr<char[]> exact(new char[file.size()]);
      std::memcpy(exact.get(), file.data(), file.size());
      SCOPED_TRACE(testing::Message() << "seed " << s << ", mutation " << i);
      try {
        const SafetensorsFile read = ParseSafetensors(exact.get(), file.size(), "f");
        ExpectFaithful(read, exact.get(), file.size());
        if (file != seeds[s]) ++changed_and_read;
      } catch (const SafetensorsError& error) {
        for (auto& [kind, count] : refusals) {
          if (std::strstr(error.what(), kind.c_str()) != nullptr) ++count;
        }
      }
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(changed_and_read, 1000);
  for (const auto& [kind, count] : refusals) EXPECT_GT(count, 0) << kind;
}

}  // namespace
}  // namespace tra
