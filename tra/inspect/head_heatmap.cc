#include "tra/inspect/head_heatmap.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "tra/model/attention/diff.h"
#include "tra/model/weights.h"

namespace tra {
namespace {

// Logits this far below the highest differ in nothing that could be seen: the weights are below 1e-8 of the highest.
constexpr double kDeepest = 20;

// Says what the term is that a rule adds to the content score.
struct PositionTerm {
  const char* title;
  ScoreRule rule;
  bool decays;  // the term is highest at the query itself and has no end, so that its range is limited to kDeepest
};
constexpr PositionTerm kPositionTerms[] = {
    {"position: count of kept keys × log gate", ScoreRule::kThreshold, true},
    {"position: sum of log forget gates", ScoreRule::kForget, true},
    {"position: bias of the distance", ScoreRule::kDistance, false},
    {"position: q·e at the contextual position", ScoreRule::kContextual, false},
};

CellState StateOf(uint8_t state) {
  switch (static_cast<KeyState>(state)) {
    case KeyState::kDropped:
      return CellState::kDropped;
    case KeyState::kSkipped:
      return CellState::kSkipped;
    case KeyState::kFuture:
      return CellState::kFuture;
    default:
      return CellState::kKept;
  }
}

std::vector<CellState> StatesOf(const AttentionMatrix& matrix) {
  const at::Tensor states = matrix.state.contiguous();
  std::vector<CellState> cells;
  cells.reserve(static_cast<size_t>(states.numel()));
  std::transform(states.data_ptr<uint8_t>(), states.data_ptr<uint8_t>() + states.numel(), std::back_inserter(cells),
                 &StateOf);
  return cells;
}

std::vector<float> Values(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.to(at::kFloat).contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

HeatPanel LogitPanel(const char* title, const at::Tensor& values, const std::vector<CellState>& states) {
  HeatPanel panel;
  panel.title = title;
  panel.unit = "part of the logit";
  panel.values = Values(values);
  return FittedPanel(std::move(panel), states);
}

HeatPanel WeightPanel(const std::string& title, const at::Tensor& values, ColorScale scale) {
  HeatPanel panel;
  panel.title = title;
  panel.unit = scale == ColorScale::kSquareRoot ? "weight, on a square-root scale" : "weight";
  panel.values = Values(values);
  panel.skipped_too = false;
  panel.scale = scale;
  return panel;
}

HeatRow RowOf(const AttentionMatrix& matrix, ScoreRule rule, ColorScale scale) {
  HeatRow row;
  row.states = StatesOf(matrix);
  row.panels.push_back(LogitPanel("content: q·k / √width", matrix.score, row.states));
  for (const PositionTerm& term : kPositionTerms) {
    if (term.rule != rule) continue;
    HeatPanel panel = LogitPanel(term.title, matrix.term, row.states);
    const double deepest = std::ceil(panel.high) - kDeepest;
    if (term.decays && panel.low < deepest) {
      panel.low = deepest;
      panel.has_lower = true;
    }
    row.panels.push_back(std::move(panel));
  }
  row.panels.push_back(WeightPanel("weights: softmax of the logits", matrix.weight, scale));
  return row;
}

std::string TwoDecimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

// Returns the factor of a layer's second attention, from the model's weights.
double SecondFactor(const Decoder& model, int64_t layer) {
  const auto weights = NamedWeights(model);
  const auto weight = [&](const char* name) {
    return weights.at("layers." + std::to_string(layer) + ".attention.lambda_" + name);
  };
  const c10::NoGradGuard no_grad;
  return DiffLambda(weight("q1"), weight("k1"), weight("q2"), weight("k2"), layer).item<double>();
}

}  // namespace

std::vector<HeatRow> HeadRows(const InspectedRun& run, const std::string& name, const Inspection& inspection,
                              int64_t layer, int64_t head, const MatrixPart& part, ColorScale scale) {
  const ScoreRule rule = inspection.Attention({layer, head}).inputs.rule;
  const AttentionMatrix matrix = inspection.Matrix({layer, head}, part);
  const std::string title = run.model().config.attention + ", layer " + std::to_string(layer) + " of 0 to " +
                            std::to_string(run.model().config.layers - 1) + ", head " + std::to_string(head) +
                            ", step " + std::to_string(run.step()) + " (" + name + ")";
  std::vector<HeatRow> rows = {RowOf(matrix, rule, scale)};
  rows[0].title = title;
  if (inspection.record.layers[static_cast<size_t>(layer)].size() == 2) {
    const AttentionMatrix second = inspection.Matrix({layer, head, 1}, part);
    const double factor = SecondFactor(run.model(), layer);
    HeatPanel difference = WeightPanel("difference: first - " + TwoDecimals(factor) + " × second",
                                       matrix.weight - factor * second.weight, scale);
    difference.diverging = true;
    difference.low = -1;
    rows[0].title += ": first attention";
    rows[0].panels.push_back(std::move(difference));
    rows.push_back(RowOf(second, rule, scale));
    rows[1].title = "the second attention of this head";
  }
  return rows;
}

std::vector<AnswerMark> AnswerMarks(const Inspection& inspection, const Example& example, const MatrixPart& part) {
  const auto first = static_cast<size_t>(part.first_query);
  const size_t last = part.last_query < 0 ? inspection.tokens.size() : static_cast<size_t>(part.last_query);
  std::vector<AnswerMark> marks;
  for (size_t query = first; query < last; ++query) {
    const size_t next = query + 1;
    const bool answer = next < example.supervised.size() && example.supervised[next] != 0;
    const bool right = answer && inspection.predictions[query].token == example.tokens[next];
    marks.push_back(!answer ? AnswerMark::kNone : right ? AnswerMark::kRight : AnswerMark::kWrong);
  }
  return marks;
}

}  // namespace tra
