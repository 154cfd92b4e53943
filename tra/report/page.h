// Makes pages: single HTML files that need no network and no other file, with tables, charts that show their values,
// heatmaps, and everything that is known about the runs. What they are made of is in the folder page/.
#ifndef TRA_REPORT_PAGE_H_
#define TRA_REPORT_PAGE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tra/report/analysis.h"
#include "tra/report/chart.h"
#include "tra/report/results.h"
#include "tra/report/tables.h"

namespace tra {

// Returns a page with one chart. Throws what ChartSvg throws.
std::string ChartPage(const Chart& chart);

struct ConfigValue {
  std::string key, value, usual, meaning;  // usual: without a configuration file
};

struct ReportedRun {
  RunResults results;
  std::string folder;
  std::string trouble;                           // empty, or why it has no results
  std::string config_trouble;                    // empty, or why the configuration cannot be read
  std::vector<ConfigValue> config;               // every key; empty if the configuration is not there
  nlohmann::ordered_json environment = nullptr;  // env.json, or null
};

// Holds one head's matrix of one input.
struct HeadCells {
  std::string name;            // "layer 0, head 2"
  std::string words;           // what is to be seen, for those who do not see it
  std::vector<uint8_t> cells;  // [query][key <= query], see CellOf
};

enum class CellCode : uint8_t { kDropped = 0, kSkipped = 1, kZero = 2 };
// Returns the cell of a weight, 0 to 1, of a key that was kept: kZero for 0 to 255 for 1, by its root, so that small
// weights can be told from 0. Throws std::invalid_argument for NaN.
uint8_t CellOf(double weight);

struct Heatmaps {
  std::string title, note;
  std::vector<std::string> tokens;
  std::vector<bool> answers;  // which of the tokens are
  bool threshold = false;     // whether keys drop out
  std::vector<HeadCells> heads;
};

struct Report {
  std::string title, command;
  std::vector<Table> tables;
  std::vector<Chart> charts;
  std::vector<Heatmaps> heatmaps;
  std::string heatmaps_note;  // why there are none, or only these
  std::vector<Analysis> analyses;
  std::string analysis_note;
  std::vector<ReportedRun> runs;
};

std::string ReportPage(const Report& report);

}  // namespace tra

#endif  // TRA_REPORT_PAGE_H_
