#include "tra/report/csv.h"
#include "tra/report/renderers.h"

namespace tra {
namespace {

using nlohmann::ordered_json;

const char* NameOf(Better better) {
  switch (better) {
    case Better::kHigher:
      return "higher";
    case Better::kLower:
      return "lower";
    case Better::kUnknown:
      break;
  }
  return "unknown";
}

ordered_json CellToJson(const Cell& cell) {
  const Summary& summary = cell.summary;
  if (summary.n == 0) return nullptr;
  ordered_json json = {{"n", summary.n}, {"mean", NumberToJson(summary.mean)}};
  if (summary.std) json["std"] = NumberToJson(*summary.std);
  json["min"] = NumberToJson(summary.min);
  json["median"] = NumberToJson(summary.median);
  json["max"] = NumberToJson(summary.max);
  json["best"] = cell.best;
  return json;
}

ordered_json LineToJson(const TableLine& line) {
  const Metric& metric = FindMetric(line.measure.metric);
  ordered_json json = {{"line", line.label},          {"task", line.measure.task},      {"split", line.measure.split},
                       {"group", line.measure.group}, {"window", line.measure.window},  {"metric", line.measure.metric},
                       {"scale", metric.scale},       {"better", NameOf(metric.better)}};
  ordered_json cells = ordered_json::array();
  for (const Cell& cell : line.cells) cells.push_back(CellToJson(cell));
  json["cells"] = std::move(cells);
  if (line.paper.empty()) return json;
  ordered_json paper = ordered_json::array();
  for (const std::optional<PaperValue>& value : line.paper) {
    if (value) {
      paper.push_back({{"n", kPaperSeeds}, {"mean", value->mean}, {"std", value->std}});
    } else {
      paper.push_back(nullptr);
    }
  }
  json["paper"] = std::move(paper);
  return json;
}

}  // namespace

std::string RenderCsv(const std::vector<Table>& tables) {
  std::string text = "table,line,attention,label,n,mean,std,min,median,max,source\n";
  for (const Table& table : tables) {
    for (const TableLine& line : table.lines) {
      for (size_t at = 0; at < line.cells.size(); ++at) {
        const Summary& summary = line.cells[at].summary;
        if (summary.n == 0) continue;
        const Column& column = table.columns[at];
        text += CsvRow({table.name, line.label, column.attention, column.label, std::to_string(summary.n),
                        CsvNumber(summary.mean), summary.std ? CsvNumber(*summary.std) : "", CsvNumber(summary.min),
                        CsvNumber(summary.median), CsvNumber(summary.max), "ours"});
      }
      for (size_t at = 0; at < line.paper.size(); ++at) {
        const std::string& attention = table.columns[at].attention;
        if (!line.paper[at]) continue;
        text += CsvRow({table.name, line.label, attention, "", std::to_string(kPaperSeeds),
                        CsvNumber(line.paper[at]->mean), CsvNumber(line.paper[at]->std), "", "", "", "paper"});
      }
    }
  }
  return text;
}

std::string RenderJson(const std::vector<Table>& tables) {
  ordered_json all = ordered_json::array();
  for (const Table& table : tables) {
    ordered_json json = {{"table", table.name}, {"caption", table.caption}};
    ordered_json columns = ordered_json::array(), lines = ordered_json::array();
    for (const Column& column : table.columns) {
      columns.push_back({{"attention", column.attention}, {"label", column.label}, {"title", column.Title()}});
    }
    for (const TableLine& line : table.lines) lines.push_back(LineToJson(line));
    json["columns"] = std::move(columns);
    json["lines"] = std::move(lines);
    json["footnotes"] = table.footnotes;
    all.push_back(std::move(json));
  }
  return ordered_json{{"format", "tra-tables"}, {"version", 1}, {"tables", std::move(all)}}.dump(1) + "\n";
}

}  // namespace tra
