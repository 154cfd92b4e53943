// Declares the parts of pages, as HTML and as the JSON that the page's script reads.
#ifndef TRA_REPORT_PAGE_PARTS_H_
#define TRA_REPORT_PAGE_PARTS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tra/report/page.h"

namespace tra {

// Returns a chart as a picture with its numbers as a table, which the script replaces by one that shows values;
// `number` is its place among the charts of the page.
std::string ChartHtml(const Chart& chart, size_t number);
nlohmann::ordered_json ChartJson(const Chart& chart);

// Says what the colours of heatmaps mean.
extern const char kHeatmapsKey[];
std::string HeatmapsHtml(const Heatmaps& heatmaps, size_t number);
nlohmann::ordered_json HeatmapsJson(const Heatmaps& heatmaps);

// Returns what was found out about the heads of a run, as tables.
std::string AnalysisHtml(const Analysis& analysis);

// Returns all runs by task and setting: how they differ from the defaults, their whole configuration, seeds, revisions
// and machines.
std::string RunsHtml(const std::vector<ReportedRun>& runs);

}  // namespace tra

#endif  // TRA_REPORT_PAGE_PARTS_H_
