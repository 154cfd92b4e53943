// Draws the heads of a run: what their logits are made of, and their weights.
#ifndef TRA_INSPECT_HEAD_HEATMAP_H_
#define TRA_INSPECT_HEAD_HEATMAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tra/inspect/inspected_run.h"
#include "tra/report/heatmap.h"

namespace tra {

// Returns the panels of a head: content, position (if its rule has such a term) and weights, beside each other. Heads
// of diff have a row for each of their two attentions, the first with the difference that is used in the end. `name` is
// the run's in the titles; `scale` is that of the weights. Throws std::invalid_argument for a layer, a head or a part
// that is not there.
std::vector<HeatRow> HeadRows(const InspectedRun& run, const std::string& name, const Inspection& inspection,
                              int64_t layer, int64_t head, const MatrixPart& part, ColorScale scale);

// Says of the queries of a part whether an answer of the example comes next, and whether the model predicts it. What
// was inspected is the example, or begins it. Without answers (supervised is empty) nothing is marked.
std::vector<AnswerMark> AnswerMarks(const Inspection& inspection, const Example& example, const MatrixPart& part);

}  // namespace tra

#endif  // TRA_INSPECT_HEAD_HEATMAP_H_
