#include "tra/report/paper.h"

namespace tra {

const std::vector<PaperLine>& PaperLines() {
  static const std::vector<PaperLine> kLines = {
      // Table 1. Its buckets 0-50, 50-100, ... are our iid, 51-100, ...
      {{"flipflop", "iid", "", 0, "em"}, {100, 100, 100, 100, 100, 100, 100, 100, 100}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{"flipflop", "dense", "", 0, "em"},
       {0.15, 27.38, 41.2, 100, 12.58, 100, 100, 100, 100},
       {0, 13.1, 47.29, 0, 15.87, 0, 0, 0, 0}},
      {{"flipflop", "sparse", "", 0, "em"},
       {99.97, 90.61, 70.48, 72.82, 86.93, 93.4, 77.8, 95.1, 100},
       {0.1, 5.64, 10.92, 1.27, 9.93, 4.21, 6.73, 4.4, 0}},
      {{"induct", "iid", "", 0, "em"}, {100, 100, 100, 100, 99.96, 100, 100, 100, 100}, {0, 0, 0, 0, 0.04, 0, 0, 0, 0}},
      {{"induct", "51-100", "", 0, "em"},
       {13.42, 0, 0, 7.85, 45.36, 15, 4.43, 20.42, 100},
       {1.96, 0, 0, 11.87, 43.99, 2.83, 0, 2.74, 0}},
      {{"induct", "101-200", "", 0, "em"}, {0, 0, 0, 0, 0, 0, 0, 0, 99.9}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{"induct", "201-300", "", 0, "em"}, {0, 0, 0, 0, 0, 0, 0, 0, 99.33}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{"copy", "iid", "", 0, "em"}, {100, 100, 100, 100, 100, 100, 100, 100, 100}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{"copy", "51-100", "", 0, "em"},
       {12.43, 0, 3.1, 4.44, 26.97, 97.65, 1.61, 86.47, 100},
       {1.66, 0, 2.5, 4.79, 6.11, 4.7, 0.29, 21.17, 0}},
      {{"copy", "101-200", "", 0, "em"},
       {0, 0, 0, 0, 0, 66.04, 0, 40.89, 99.87},
       {0, 0, 0, 0, 0, 40.49, 0, 31.27, 0.14}},
      {{"copy", "201-300", "", 0, "em"}, {0, 0, 0, 0, 0, 3.54, 0, 2.08, 98.16}, {0, 0, 0, 0, 0, 4.35, 0, 2.14, 1.82}},
      // Table 2.
      {{"flipflop++", "51-500", "after-first", 0, "em"},
       {64.53, 70.78, 95.78, 99.27, 96.8, 51.74, 92.01, 100, 95.64},
       {19.36, 18.37, 5.1, 0.96, 3.91, 18.08, 2.07, 0, 4.87}},
      {{"flipflop++", "51-500", "after-last", 0, "em"},
       {20, 11.77, 25.16, 38.06, 37.58, 65, 27.74, 89.52, 99.84},
       {4, 1.84, 6.09, 7.09, 10.98, 22.86, 1.82, 10.21, 0.28}},
      {{"flipflop++", "51-500", "before-first", 0, "em"},
       {58.23, 71.17, 86.32, 98.68, 87.94, 57.8, 93.53, 100, 98.97},
       {18.15, 15.67, 21.67, 0.87, 12.47, 15.07, 2.39, 0, 1.78}},
      {{"flipflop++", "51-500", "before-last", 0, "em"},
       {13.45, 10.12, 27.06, 33.86, 34.34, 76.42, 23.25, 91.3, 100},
       {0.69, 2.24, 9.02, 15.61, 12.97, 13.72, 4.28, 6.32, 0}},
      // Table 3.
      {{"text", "test", "", 128, "ppl_token"},
       {31.74, 31.61, 31.27, 30.11, 32.09, 30.3, 29.46, 30.2, 30.04},
       {0.11, 0.16, 0.11, 0.04, 0.07, 0.04, 0.12, 0.09, 0.32}},
  };
  return kLines;
}

size_t PaperOrder(const std::string& attention) {
  size_t order = 0;
  while (order < kPaperAttentions.size() && attention != kPaperAttentions[order].name) ++order;
  return order;
}

std::optional<PaperValue> FindPaperValue(const Measure& measure, const std::string& attention) {
  const size_t order = PaperOrder(attention);
  if (order == kPaperAttentions.size()) return std::nullopt;
  for (const PaperLine& line : PaperLines()) {
    if (line.measure == measure) return PaperValue{line.means[order], line.stds[order]};
  }
  return std::nullopt;
}

}  // namespace tra
