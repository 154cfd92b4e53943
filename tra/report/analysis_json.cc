// Writes analyses for programs. docs/analysis.md describes the fields.
#include "tra/report/analysis.h"
#include "tra/report/results.h"

namespace tra {
namespace {

using nlohmann::ordered_json;

// Converts what may not apply: then it is null.
ordered_json Json(std::optional<double> value) { return value ? NumberToJson(*value) : ordered_json(nullptr); }

ordered_json Json(const PairsAnalysis& pairs) { return {{"kept", Json(pairs.kept)}, {"weight", Json(pairs.weight)}}; }

ordered_json Json(const HeadName& name) {
  return {{"layer", name.layer}, {"attention", name.attention}, {"head", name.head}};
}

ordered_json Json(const HeadAnalysis& head) {
  ordered_json json = Json(head.name);
  json.update({{"density", Json(head.density)},
               {"empty_rows", Json(head.empty_rows)},
               {"gate", Json(head.gate)},
               {"gate_deviation", Json(head.gate_deviation)},
               {"log_gate", Json(head.log_gate)},
               {"log_gate_deviation", Json(head.log_gate_deviation)},
               {"kept_distance", Json(head.kept_distance)},
               {"token_distance", Json(head.token_distance)},
               {"skipped", Json(head.skipped)}});
  return json;
}

ordered_json Json(const EvidenceAnalysis& step, const std::vector<HeadAnalysis>& heads) {
  ordered_json json = {{"step", step.step},
                       {"answers", step.answers},
                       {"right", NumberToJson(step.right)},
                       {"heads", ordered_json::array()}};
  for (size_t i = 0; i < step.heads.size(); ++i) {
    ordered_json head = Json(heads[i].name);
    head["evidence"] = Json(step.heads[i].evidence);
    head["links"] = Json(step.heads[i].links);
    json["heads"].push_back(head);
  }
  return json;
}

ordered_json Json(const StretchAnalysis& stretch, const std::vector<HeadAnalysis>& heads) {
  ordered_json json = {{"factor", stretch.factor}, {"examples", stretch.examples}};
  if (stretch.examples == 0) return json;
  json.update({{"tokens", NumberToJson(stretch.tokens)},
               {"answers", stretch.answers},
               {"right", NumberToJson(stretch.right)},
               {"same", NumberToJson(stretch.same)},
               {"heads", ordered_json::array()}});
  for (size_t i = 0; i < stretch.heads.size(); ++i) {
    const HeadStretch& from = stretch.heads[i];
    ordered_json head = Json(heads[i].name);
    head.update({{"same_kept", Json(from.same_kept)},
                 {"overlap", Json(from.overlap)},
                 {"inserted_kept", Json(from.inserted_kept)},
                 {"count_change", Json(from.count_change)},
                 {"evidence", Json(from.evidence)}});
    json["heads"].push_back(head);
  }
  return json;
}

ordered_json Json(const Correlation& correlation) {
  return {{"heads", correlation.n}, {"pearson", Json(correlation.of_values)}, {"spearman", Json(correlation.of_ranks)}};
}

ordered_json Json(const Analysis& run) {
  ordered_json json = {{"run", run.run},
                       {"task", run.task},
                       {"attention", run.attention},
                       {"label", run.label},
                       {"seed", run.seed},
                       {"step", run.step},
                       {"split", run.split},
                       {"examples", run.examples},
                       {"solved", run.solved ? ordered_json(*run.solved) : ordered_json(nullptr)},
                       {"notes", run.notes},
                       {"sparsity_and_gate", Json(SparsityAndGate({run}))}};
  for (const char* list : {"heads", "evidence", "stretched"}) json[list] = ordered_json::array();
  for (const HeadAnalysis& head : run.heads) json["heads"].push_back(Json(head));
  for (const EvidenceAnalysis& step : run.evidence) json["evidence"].push_back(Json(step, run.heads));
  for (const StretchAnalysis& each : run.stretched) json["stretched"].push_back(Json(each, run.heads));
  return json;
}

}  // namespace

ordered_json ToJson(const std::vector<Analysis>& runs) {
  ordered_json json = {{"format", "tra-analysis"}, {"sparsity_and_gate", Json(SparsityAndGate(runs))}};
  json["runs"] = ordered_json::array();
  for (const Analysis& run : runs) json["runs"].push_back(Json(run));
  return json;
}

}  // namespace tra
