#include "tra/base/checksum.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace tra {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

namespace {

// Throws if OpenSSL failed: it was built without SHA-256, or memory has run out.
void Require(int result) {
  if (result != 1) throw std::runtime_error("checksum: OpenSSL cannot compute SHA-256 here");
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  Require(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::Add(std::string_view bytes) { Require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size())); }

std::string Sha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  Require(EVP_DigestFinal_ex(state_->context, digest, &size));
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 sum;
  sum.Add(bytes);
  return sum.Hex();
}

std::string Sha256OfFile(const InputFile& file) {
  Sha256 sum;
  std::string block;
  for (uint64_t at = 0; at < file.Size(); at += block.size()) {
    block.resize(std::min<uint64_t>(uint64_t{1} << 20, file.Size() - at));
    file.ReadAt(at, block.data(), block.size());
    sum.Add(block);
  }
  return sum.Hex();
}

}  // namespace tra
