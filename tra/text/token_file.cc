#include "tra/text/token_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace tra {
namespace {

constexpr char kMagic[8] = {'t', 'r', 'a', ' ', 'i', 'd', 's', '\n'};
constexpr uint32_t kVersion = 1;
constexpr size_t kSumDigits = 64;

// Begins the file; the ids follow it. It is little-endian, like the machines that this runs on; a big-endian machine
// would find another version number and refuse the file.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t id_bytes;
  uint64_t tokens, text_bytes, words, lines;
  char tokenizer_checksum[kSumDigits], text_sha256[kSumDigits], ids_sha256[kSumDigits];
  char header_sha256[kSumDigits];  // of all fields before it
};
static_assert(sizeof(Header) == 304 && std::is_trivially_copyable_v<Header>, "the format of the file");

void PutSum(char (&field)[kSumDigits], const std::string& sum) {
  if (sum.size() != kSumDigits)
    throw std::logic_error("token file: a checksum of " + std::to_string(sum.size()) + " digits");
  std::memcpy(field, sum.data(), kSumDigits);
}

std::string GetSum(const char (&field)[kSumDigits]) { return {field, kSumDigits}; }

std::string HeaderSum(const Header& header) {
  return Sha256Hex({reinterpret_cast<const char*>(&header), offsetof(Header, header_sha256)});
}

// Adds the ids of a file to `sum`, and returns the largest of them; of a negative one as a large one.
template <typename Id>
uint64_t ReadIds(const InputFile& file, Sha256& sum) {
  std::vector<Id> block;
  uint64_t largest = 0;
  for (uint64_t at = sizeof(Header); at < file.Size(); at += block.size() * sizeof(Id)) {
    block.resize(std::min<uint64_t>(uint64_t{1} << 18, (file.Size() - at) / sizeof(Id)));
    file.ReadAt(at, block.data(), block.size() * sizeof(Id));
    sum.Add({reinterpret_cast<const char*>(block.data()), block.size() * sizeof(Id)});
    largest = std::max<uint64_t>(largest, *std::max_element(block.begin(), block.end()));
  }
  return largest;
}

}  // namespace

TokenFile::TokenFile(const std::string& path) : file_(path) {
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(path + ": " + what + "; delete it, and it is made again");
  };
  Header header{};
  file_.ReadAt(0, &header, std::min<uint64_t>(file_.Size(), sizeof(header)));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) fail("is not a file of token ids");
  if (header.version != kVersion) {
    fail("is of version " + std::to_string(header.version) + ", not " + std::to_string(kVersion));
  }
  if (file_.Size() < sizeof(header)) fail("is cut off in its header");
  if (GetSum(header.header_sha256) != HeaderSum(header)) fail("has a damaged header");
  // The header is consistent from here on, but whoever wrote it need not have been this program.
  if (header.id_bytes != sizeof(uint16_t) && header.id_bytes != sizeof(uint32_t)) {
    fail("has ids of " + std::to_string(header.id_bytes) + " bytes, not of 2 or 4");
  }
  const uint64_t bytes = file_.Size() - sizeof(header);
  if (bytes % header.id_bytes != 0 || bytes / header.id_bytes != header.tokens) {
    fail("has " + std::to_string(bytes) + " bytes of ids, not " + std::to_string(header.tokens) + " ids of " +
         std::to_string(header.id_bytes) + " bytes");
  }
  for (const uint64_t count : {header.text_bytes, header.words, header.lines}) {
    if (count > static_cast<uint64_t>(INT64_MAX)) fail("counts more than there can be");
  }
  Sha256 sum;
  const uint64_t largest =
      header.id_bytes == sizeof(uint16_t) ? ReadIds<uint16_t>(file_, sum) : ReadIds<uint32_t>(file_, sum);
  if (GetSum(header.ids_sha256) != sum.Hex()) fail("has damaged ids");
  info_.tokenizer_checksum = GetSum(header.tokenizer_checksum);
  info_.text_sha256 = GetSum(header.text_sha256);
  info_.text_bytes = static_cast<int64_t>(header.text_bytes);
  info_.tokens = static_cast<int64_t>(header.tokens);
  info_.words = static_cast<int64_t>(header.words);
  info_.lines = static_cast<int64_t>(header.lines);
  info_.id_bytes = static_cast<int>(header.id_bytes);
  info_.largest_id = static_cast<int64_t>(largest);
}

template <typename Id>
void TokenFile::ReadAs(int64_t begin, int64_t count, int64_t* ids) const {
  std::vector<Id> stored(static_cast<size_t>(count));
  file_.ReadAt(sizeof(Header) + static_cast<uint64_t>(begin) * sizeof(Id), stored.data(), stored.size() * sizeof(Id));
  std::copy(stored.begin(), stored.end(), ids);
}

void TokenFile::Read(int64_t begin, int64_t count, int64_t* ids) const {
  if (begin < 0 || count < 0 || begin > Size() || count > Size() - begin) {
    throw std::out_of_range("token file: " + std::to_string(count) + " tokens from " + std::to_string(begin) +
                            " on, of " + std::to_string(Size()));
  }
  if (info_.id_bytes == sizeof(uint16_t)) {
    ReadAs<uint16_t>(begin, count, ids);
  } else {
    ReadAs<uint32_t>(begin, count, ids);
  }
}

int64_t TokenFile::operator[](int64_t index) const {
  int64_t id = 0;
  Read(index, 1, &id);
  return id;
}

TokenFileWriter::TokenFileWriter(const std::string& path, int64_t vocabulary)
    : file_(path), id_bytes_(vocabulary <= 65536 ? 2 : 4) {
  const Header empty{};
  file_.Write(&empty, sizeof(empty));
}

void TokenFileWriter::Add(const std::vector<int32_t>& ids) {
  const void* data = ids.data();
  if (id_bytes_ == 2) {
    narrow_.assign(ids.begin(), ids.end());
    data = narrow_.data();
  }
  const size_t size = ids.size() * static_cast<size_t>(id_bytes_);
  file_.Write(data, size);
  ids_sum_.Add({static_cast<const char*>(data), size});
  tokens_ += static_cast<int64_t>(ids.size());
}

void TokenFileWriter::Commit(const TokenFileInfo& info) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.id_bytes = static_cast<uint32_t>(id_bytes_);
  header.tokens = static_cast<uint64_t>(tokens_);
  header.text_bytes = static_cast<uint64_t>(info.text_bytes);
  header.words = static_cast<uint64_t>(info.words);
  header.lines = static_cast<uint64_t>(info.lines);
  PutSum(header.tokenizer_checksum, info.tokenizer_checksum);
  PutSum(header.text_sha256, info.text_sha256);
  PutSum(header.ids_sha256, ids_sum_.Hex());
  PutSum(header.header_sha256, HeaderSum(header));
  file_.Rewrite(0, &header, sizeof(header));
  file_.Commit();
}

}  // namespace tra
