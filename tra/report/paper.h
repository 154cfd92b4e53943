// Holds the numbers of the paper's tables, to compare ours with.
#ifndef TRA_REPORT_PAPER_H_
#define TRA_REPORT_PAPER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tra/report/measure.h"

namespace tra {

struct PaperAttention {
  const char* name;   // our name
  const char* title;  // the paper's name
};

constexpr std::array<PaperAttention, 9> kPaperAttentions = {{{"nope", "NoPE"},
                                                             {"ape", "APE"},
                                                             {"rel", "REL"},
                                                             {"rope", "RoPE"},
                                                             {"label", "Label"},
                                                             {"fot", "FoT"},
                                                             {"diff", "Diff"},
                                                             {"cope", "CoPE"},
                                                             {"tra", "TRA"}}};
constexpr int64_t kPaperSeeds = 4;

// Holds a line as published: exact match in percent, perplexity as it is. The paper does not say whether its deviations
// divide by n or n-1.
struct PaperLine {
  Measure measure;
  std::array<double, kPaperAttentions.size()> means, stds;  // in the order of kPaperAttentions
};

const std::vector<PaperLine>& PaperLines();

// Returns the place of the attention in kPaperAttentions; their number if it is not one of them.
size_t PaperOrder(const std::string& attention);

struct PaperValue {
  double mean, std;
};

std::optional<PaperValue> FindPaperValue(const Measure& measure, const std::string& attention);

}  // namespace tra

#endif  // TRA_REPORT_PAPER_H_
