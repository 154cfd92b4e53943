// Names texts, and divides a file that is to be several of them.
#ifndef TRA_TEXT_TEXT_SOURCE_H_
#define TRA_TEXT_TEXT_SOURCE_H_

#include <string>
#include <string_view>
#include <utility>

namespace tra {

// Names a text: a file, or a part of one. Converts implicitly, because most texts are whole files.
struct TextSource {
  TextSource(std::string path, std::string part = "") : path(std::move(path)), part(std::move(part)) {}

  std::string path;
  std::string part;  // train, valid or test; empty: the whole file
};

// Says how files are divided, in words.
constexpr char kDivision[] = "the first 90% are train, the next 5% valid, the last 5% test";

// Returns the part that a source names, of the bytes of its file. A cut is made at the first blank line after 90% and
// 95% of the bytes, or at the first end of a line if none is near, so that the parts consist of whole lines, together
// are the file, and depend on nothing but its bytes. Throws std::runtime_error if there are too few lines.
std::string_view PartOf(std::string_view file, const TextSource& source);

}  // namespace tra

#endif  // TRA_TEXT_TEXT_SOURCE_H_
