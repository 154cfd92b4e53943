#include "tra/cli/report_heatmaps.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace tra::cli {
namespace {

// Returns the cells [query][key <= query] of a head, and what they show, in words.
HeadCells ReadHead(const Inspection& inspection, const HeadId& id, bool threshold, int64_t attentions) {
  const AttentionMatrix matrix = inspection.Matrix(id);
  const at::Tensor states = matrix.state.contiguous(), weights = matrix.weight.to(at::kFloat).contiguous();
  const int64_t length = states.size(0);
  const auto* state = states.data_ptr<uint8_t>();
  const auto* weight = weights.data_ptr<float>();
  HeadCells head;
  int64_t kept = 0;
  double distance = 0;  // in tokens, summed over queries
  for (int64_t query = 0; query < length; ++query) {
    const auto* row = weight + query * length;
    for (int64_t key = 0; key <= query; ++key) {
      const auto what = static_cast<KeyState>(state[query * length + key]);
      kept += what == KeyState::kDropped ? 0 : 1;
      distance += row[key] * static_cast<double>(query - key);
      head.cells.push_back(what == KeyState::kDropped   ? static_cast<uint8_t>(CellCode::kDropped)
                           : what == KeyState::kSkipped ? static_cast<uint8_t>(CellCode::kSkipped)
                                                        : CellOf(row[key]));
    }
  }
  head.name = "layer " + std::to_string(id.layer) + ", head " + std::to_string(id.head);
  if (attentions > 1) head.name += ", attention " + std::to_string(id.attention);
  char words[96];
  std::snprintf(words, sizeof words, "looks %.1f tokens back", distance / static_cast<double>(length));
  if (threshold) {
    std::snprintf(words, sizeof words, "keeps %.0f%%, looks %.1f back",
                  100 * static_cast<double>(kept) / static_cast<double>(head.cells.size()),
                  distance / static_cast<double>(length));
  }
  head.words = words;
  return head;
}

}  // namespace

Heatmaps DrawHeatmaps(InspectedRun& run, const std::string& title, const HeatmapChoice& choice) {
  const std::vector<std::string> splits = run.Splits();
  const auto iid = std::find(splits.begin(), splits.end(), "iid");
  const std::string split = iid != splits.end() ? *iid : splits.back();
  const Example example = run.At(split, choice.example);
  const auto all = static_cast<int64_t>(example.tokens.size());
  const int64_t length = std::min(all, choice.tokens);
  const std::vector<int32_t> tokens(example.tokens.begin(), example.tokens.begin() + length);
  const Inspection inspection = run.Inspect(tokens);

  Heatmaps heatmaps;
  heatmaps.title = title;
  heatmaps.note = "Example " + std::to_string(choice.example) + " of " + split + ", " +
                  (length < all ? "its first " + std::to_string(length) + " of " + std::to_string(all) + " tokens"
                                : std::to_string(all) + " tokens") +
                  "; a row is a query, a column a key.";
  for (int64_t i = 0; i < length; ++i) {
    heatmaps.tokens.push_back(run.vocabulary().Word(tokens[static_cast<size_t>(i)]));
    heatmaps.answers.push_back(example.supervised[static_cast<size_t>(i)] != 0);
  }
  int64_t heads = 0;
  for (size_t layer = 0; layer < inspection.record.layers.size(); ++layer) {
    const auto& attentions = inspection.record.layers[layer];
    for (int64_t head = 0; head < attentions[0].Heads(); ++head) {
      for (size_t attention = 0; attention < attentions.size(); ++attention) {
        ++heads;
        if (static_cast<int64_t>(heatmaps.heads.size()) == choice.heads) continue;
        heatmaps.threshold = attentions[attention].inputs.rule == ScoreRule::kThreshold;
        heatmaps.heads.push_back(ReadHead(inspection,
                                          {static_cast<int64_t>(layer), head, static_cast<int64_t>(attention)},
                                          heatmaps.threshold, static_cast<int64_t>(attentions.size())));
      }
    }
  }
  if (heads > choice.heads) {
    heatmaps.note += " The first " + std::to_string(choice.heads) + " of " + std::to_string(heads) + " heads.";
  }
  return heatmaps;
}

}  // namespace tra::cli
