#include "tra/text/token_file.h"

#include <cstddef>
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

}  // namespace

TokenFile::TokenFile(const std::string& path) : file_(path) {
  const std::string_view bytes = file_.Bytes();
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(path + ": " + what + "; delete it, and it is made again");
  };
  Header header{};
  bytes.copy(reinterpret_cast<char*>(&header), sizeof(header));  // or less, if the file is shorter
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) fail("is not a file of token ids");
  if (header.version != kVersion) {
    fail("is of version " + std::to_string(header.version) + ", not " + std::to_string(kVersion));
  }
  if (bytes.size() < sizeof(header)) fail("is cut off in its header");
  if (GetSum(header.header_sha256) != HeaderSum(header)) fail("has a damaged header");
  // From here on the header is as it was written.
  const std::string_view ids = bytes.substr(sizeof(header));
  if (ids.size() != header.tokens * header.id_bytes) {
    fail("has " + std::to_string(ids.size()) + " bytes of ids, not " + std::to_string(header.tokens * header.id_bytes));
  }
  if (GetSum(header.ids_sha256) != Sha256Hex(ids)) fail("has damaged ids");
  info_.tokenizer_checksum = GetSum(header.tokenizer_checksum);
  info_.text_sha256 = GetSum(header.text_sha256);
  info_.text_bytes = static_cast<int64_t>(header.text_bytes);
  info_.tokens = static_cast<int64_t>(header.tokens);
  info_.words = static_cast<int64_t>(header.words);
  info_.lines = static_cast<int64_t>(header.lines);
  info_.id_bytes = static_cast<int>(header.id_bytes);
}

void TokenFile::Read(int64_t begin, int64_t count, int64_t* ids) const {
  if (begin < 0 || count < 0 || begin > Size() || count > Size() - begin) {
    throw std::out_of_range("token file: " + std::to_string(count) + " tokens from " + std::to_string(begin) +
                            " on, of " + std::to_string(Size()));
  }
  if (count == 0) return;
  const char* at = file_.Bytes().data() + sizeof(Header);
  const auto read = [&](const auto* from) {
    for (int64_t i = 0; i < count; ++i) ids[i] = from[begin + i];
  };
  // Ids are aligned: a mapping begins on a page, and the size of the header is a multiple of both sizes of ids.
  if (info_.id_bytes == 2) {
    read(reinterpret_cast<const uint16_t*>(at));
  } else {
    read(reinterpret_cast<const int32_t*>(at));
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
