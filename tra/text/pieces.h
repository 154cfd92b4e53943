// Splits text, as GPT-2 does, into the pieces that byte-level BPE works on.
#ifndef TRA_TEXT_PIECES_H_
#define TRA_TEXT_PIECES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tra {

// Gives the pieces of a text in order; joined, they are the text. A byte that is not part of valid UTF-8 is a separate
// piece, and the text on either side of it is split as if it ended there. The text must outlive this object and the
// pieces.
class Pieces {
 public:
  // The engines differ in speed only; kFastest is the just-in-time compiler where there is one.
  enum class Engine { kFastest, kInterpreter };

  explicit Pieces(std::string_view text, Engine engine = Engine::kFastest);
  ~Pieces();
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  // Gets the next piece. Returns false at the end of the text.
  bool Next(std::string_view& piece);

  // Returns the pattern and the version of Unicode, which defines what a letter is. Equal rules give equal pieces.
  static std::string Rule();

 private:
  struct State;

  std::string_view text_;
  size_t begin_ = 0;      // start of the next piece
  size_t valid_end_ = 0;  // the text from begin_ to here is valid UTF-8
  std::unique_ptr<State> state_;
};

}  // namespace tra

#endif  // TRA_TEXT_PIECES_H_
