#include "tra/base/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "tra/base/text.h"

namespace tra {
namespace {

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Counts the letters to insert, remove, replace or swap with their neighbour to turn a into b, ignoring case.
size_t Edits(const std::string& a, const std::string& b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);  // for a's first i-2, i-1 and i letters
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    std::swap(last, row);
  }
  return last[b.size()];
}

const std::string* Nearest(const std::string& name, const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  // A name that needs more edits is another word, and so is one of which no letter would stay.
  const size_t most = name.size() < 2 ? 0 : std::max<size_t>(1, name.size() / 3);
  size_t fewest = most + 1;
  for (const std::string& each : known) {
    // Every letter that one has more than the other is an edit: a long name from a damaged file is not compared.
    if (std::max(name.size(), each.size()) - std::min(name.size(), each.size()) > most) continue;
    const size_t edits = Edits(name, each);
    if (edits < fewest) {
      fewest = edits;
      nearest = &each;
    }
  }
  return nearest;
}

// Returns the message up to where the list of names, or the reference to the help, begins.
std::string Question(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  return "unknown " + kind + " '" + Shortened(name, 80) + "'" + DidYouMean(name, known);
}

}  // namespace

std::string DidYouMean(const std::string& name, const std::vector<std::string>& known) {
  const std::string* nearest = Nearest(name, known);
  return nearest != nullptr ? "; did you mean '" + *nearest + "'?" : "";
}

std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  std::string message = Question(kind, name, known);
  message += message.back() == '?' ? " There are " : "; there are ";
  for (size_t i = 0; i < known.size(); ++i) message += (i == 0 ? "" : ", ") + known[i];
  return message;
}

std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known,
                        const std::string& help) {
  const std::string message = Question(kind, name, known);
  return message + (message.back() == '?' ? " See " : "; see ") + help;
}

}  // namespace tra
