// Computes SHA-256, to check whether bytes are the expected ones.
#ifndef TRA_BASE_CHECKSUM_H_
#define TRA_BASE_CHECKSUM_H_

#include <memory>
#include <string>
#include <string_view>

#include "tra/base/input_file.h"

namespace tra {

// Computes the checksum of bytes that arrive in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  std::string Hex();  // 64 digits; call it once, after the last Add

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);
std::string Sha256OfFile(const InputFile& file);

}  // namespace tra

#endif  // TRA_BASE_CHECKSUM_H_
