// Draws attention matrices as SVG: panels side by side, each a term of the logits or the weights, with a colour of its
// own for every reason why a key has no weight.
#ifndef TRA_REPORT_HEATMAP_H_
#define TRA_REPORT_HEATMAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tra/base/names.h"

namespace tra {

// Says what became of a key.
enum class CellState : uint8_t {
  kKept,
  kDropped,  // by the threshold
  kSkipped,  // by the early stop
  kFuture,   // it comes after the query
};

enum class ColorScale : uint8_t { kLinear, kSquareRoot };
constexpr NamedValue<ColorScale> kColorScales[] = {{"linear", ColorScale::kLinear}, {"sqrt", ColorScale::kSquareRoot}};

struct HeatPanel {
  std::string title, unit;
  std::vector<float> values;               // [queries,keys]
  double low = 0, high = 1;                // the ends of the colour bar; what is beyond has the colour of the end
  bool has_lower = false;                  // there are values below low, so the bar says "<="
  bool diverging = false;                  // colours tell the sign; low is -high
  bool skipped_too = true;                 // keys that were skipped have values here, which are shown
  ColorScale scale = ColorScale::kLinear;  // the square root shows small weights; it begins at 0
};

// Says of a query whether the token after it is an answer, and whether the model predicts it.
enum class AnswerMark : uint8_t { kNone, kRight, kWrong };

struct HeatRow {
  std::string title;              // may be empty
  std::vector<CellState> states;  // [queries,keys], of all panels
  std::vector<HeatPanel> panels;
  std::vector<AnswerMark> marks = {};  // by query; may be empty
};

struct Heatmap {
  std::string title, subtitle;
  std::vector<std::string> query_tokens, key_tokens;  // as many as there are queries and keys; drawn where they fit
  size_t first_query = 0, first_key = 0;              // the positions of the first ones
  std::vector<HeatRow> rows;
};

constexpr size_t kMostCells = 1024;  // each way

// Returns a heatmap as SVG. Every cell is a square of the same whole number of pixels; the matrices are PNG images
// within it. Throws std::invalid_argument if there is nothing to draw, more than kMostCells, or sizes do not match.
std::string HeatmapSvg(const Heatmap& heatmap);

// Returns a panel whose bar fits the finite values of the kept keys (and the skipped ones, if they are shown).
HeatPanel FittedPanel(HeatPanel panel, const std::vector<CellState>& states);

// Returns a token as a label: blanks are made visible, long ones cut, and bytes that are no text replaced.
std::string TokenLabel(const std::string& token);

}  // namespace tra

#endif  // TRA_REPORT_HEATMAP_H_
