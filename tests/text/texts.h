// Makes texts for tests, and returns the message of the error that a call throws.
#ifndef TESTS_TEXT_TEXTS_H_
#define TESTS_TEXT_TEXTS_H_

#include <exception>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tra/text/bpe_model.h"
#include "tra/text/bpe_train.h"

namespace tra {

// Returns UTF-8 text made of parts that the splitting pattern tells apart.
inline std::string RandomText(std::mt19937_64& random, size_t parts) {
  static const std::vector<std::string> kParts = {
      "a",      "b",      "the",  "Hello",        "é", "ß", "日本", "\U0001F511", "1",  "٣",  "½",    "'s",
      "'ll",    "'",      "!",    "...",          " ", " ", " ",    "  ",         "\n", "\t", "\r\n", "\u00a0",
      "\u3000", "\u180e", "\x1c", "<|endoftext|>"};
  std::string text;
  for (size_t i = 0; i < parts; ++i) text += kParts[random() % kParts.size()];
  return text;
}

// Returns any bytes, or the text of RandomText with some bytes lost or changed.
inline std::string RandomBytes(std::mt19937_64& random, size_t parts) {
  std::string text;
  if (random() % 2 == 0) {
    for (size_t i = 0; i < parts; ++i) text += static_cast<char>(random());
    return text;
  }
  for (const char byte : RandomText(random, parts)) {
    const auto fate = random() % 20;
    if (fate > 0) text += fate == 1 ? static_cast<char>(random()) : byte;
  }
  return text;
}

inline std::string Prose(int sentences) {
  static const std::vector<std::string> kWords = {"the",   "cat",  "sat",     "on",    "mat",  "and",   "another",
                                                  "other", "then", "sitting", "catty", "1984", "there", "naïve"};
  std::mt19937_64 random(7);
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    for (int word = 0; word < 8; ++word) text += (word == 0 ? "" : " ") + kWords[random() % kWords.size()];
    text += ".\n";
  }
  return text;
}

// Returns a model that is small, but whose merges go several levels deep.
inline const BpeModel& SmallBpe() {
  static const BpeModel kModel = TrainBpe(Prose(200), 300);
  return kModel;
}

inline void WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

template <class Call>
std::string FailureOf(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace tra

#endif  // TESTS_TEXT_TEXTS_H_
