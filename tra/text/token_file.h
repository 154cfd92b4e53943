// Reads and writes files that hold a text as token ids. Reading copies the tokens that are wanted from the file: a
// mapping would kill the process if the file were truncated meanwhile.
#ifndef TRA_TEXT_TOKEN_FILE_H_
#define TRA_TEXT_TOKEN_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tra/base/atomic_file.h"
#include "tra/base/checksum.h"
#include "tra/base/input_file.h"

namespace tra {

// Holds what the header of a token file says.
struct TokenFileInfo {
  std::string tokenizer_checksum;
  std::string text_sha256;
  int64_t text_bytes = 0;
  int64_t tokens = 0;
  int64_t words = 0;       // separated by ASCII white space; for perplexity per word
  int64_t lines = 0;       // the last one counts even without a newline; some count each line end as a word
  int id_bytes = 0;        // 2 or 4
  int64_t largest_id = 0;  // found when the file is opened; not part of the header
};

class TokenFile {
 public:
  TokenFile() = default;  // has no tokens
  // Checks every byte, and throws std::runtime_error that begins with the path if any is not as it was written.
  explicit TokenFile(const std::string& path);

  const TokenFileInfo& Info() const { return info_; }
  int64_t Size() const { return info_.tokens; }
  // Copies the tokens [begin, begin + count) to `ids`. Throws std::out_of_range, and std::runtime_error if the file has
  // become shorter since it was opened.
  void Read(int64_t begin, int64_t count, int64_t* ids) const;
  int64_t operator[](int64_t index) const;

 private:
  template <typename Id>
  void ReadAs(int64_t begin, int64_t count, int64_t* ids) const;

  InputFile file_;
  TokenFileInfo info_;
};

// Writes a token file, which appears under its name only with Commit.
class TokenFileWriter {
 public:
  // Stores ids in 2 bytes each if the whole vocabulary fits, else in 4.
  TokenFileWriter(const std::string& path, int64_t vocabulary);

  void Add(const std::vector<int32_t>& ids);
  void Commit(const TokenFileInfo& info);  // ignores its tokens, id_bytes and largest_id, which are known here

 private:
  AtomicFile file_;
  int id_bytes_;
  int64_t tokens_ = 0;
  Sha256 ids_sum_;
  std::vector<uint16_t> narrow_;  // kept to reuse its memory
};

}  // namespace tra

#endif  // TRA_TEXT_TOKEN_FILE_H_
