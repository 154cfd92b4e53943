// Draws charts of runs: how they learn, how far they generalise, and how well they model text by window and position.
// Runs are grouped by task and setting (attention and label): a line is the mean over the seeds of one setting.
#ifndef TRA_REPORT_RUN_CHARTS_H_
#define TRA_REPORT_RUN_CHARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/report/axis.h"
#include "tra/report/chart.h"
#include "tra/report/curve.h"
#include "tra/report/results.h"

namespace tra {

struct Lengths {
  int64_t low = 0, high = 0;  // both inclusive

  bool operator<(const Lengths& other) const { return low != other.low ? low < other.low : high < other.high; }
};

// Holds what charts need to know of a run.
struct ChartedRun {
  RunResults results;                            // rows of all of its evaluations
  std::map<std::string, Curve> curves;           // by metric
  std::map<std::string, Lengths> split_lengths;  // of splits whose name does not say it
  int64_t trained_length = 0;                    // the longest in training, or its window of text; 0: not known
  std::string length_unit;                       // what a length counts: "symbols"
};

// kAuto is the range, for as many settings as can be told apart with it.
enum class Band : uint8_t { kAuto, kRange, kDeviation, kNone };
constexpr NamedValue<Band> kBands[] = {
    {"auto", Band::kAuto}, {"range", Band::kRange}, {"std", Band::kDeviation}, {"none", Band::kNone}};

struct ChartOptions {
  std::vector<std::string> metrics;  // empty: those of the kind
  std::vector<int64_t> windows;      // for positions; empty: the longest
  Band band = Band::kAuto;
  std::optional<Scale> x, y;  // nothing: logarithmic where values differ by orders of magnitude
  std::string title;          // empty: that of the kind
};

struct ChartKind {
  const char* name;
  const char* summary;
  // Returns a chart without panels if the runs have nothing for it. Throws std::invalid_argument for a metric that no
  // run has.
  Chart (*draw)(const std::vector<ChartedRun>& runs, const ChartOptions& options);
  const char* missing;  // what to do if there is nothing
};

const std::vector<ChartKind>& ChartKinds();

// Returns the lengths in the name of a split, as tra eval --lengths writes it: "51-100", "sparse 20-20"; with the name
// of the split before them, empty for iid.
struct SplitLengths {
  std::string split;
  Lengths lengths;
};
std::optional<SplitLengths> ReadSplitLengths(const std::string& name);

}  // namespace tra

#endif  // TRA_REPORT_RUN_CHARTS_H_
