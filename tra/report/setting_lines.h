// Groups runs by task and setting, and summarises their numbers over seeds as the lines of charts.
#ifndef TRA_REPORT_SETTING_LINES_H_
#define TRA_REPORT_SETTING_LINES_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tra/report/run_charts.h"
#include "tra/report/tables.h"

namespace tra {

struct Setting {
  Column column;
  std::vector<const ChartedRun*> runs;
};

struct SettingsOfTask {
  std::string task;
  std::vector<Setting> settings;  // in the order of tables
};

// Groups runs. Throws std::invalid_argument if two have the same task, setting and seed.
std::vector<SettingsOfTask> GroupRuns(const std::vector<ChartedRun>& runs);

// Makes the lines of a chart, and keeps what its caption has to say about them.
class LineMaker {
 public:
  LineMaker(const std::vector<ChartedRun>& runs, Band band);

  // Returns a line per setting of which a run has the curve; `where` says which panel it is, for the caption.
  std::vector<Series> Lines(const SettingsOfTask& of, const std::string& where,
                            const std::function<Curve(const ChartedRun&)>& curve_of);

  // Says what lines and bands are, of how many runs, and what is missing or not finite.
  std::string Caption() const;

 private:
  std::string NameOf(const Column& column) const;

  Band band_;
  bool one_attention_ = false;
  std::map<std::string, size_t> styles_;  // by name
  std::set<size_t> seeds_;
  bool not_finite_ = false, thinned_ = false;
  std::vector<std::string> notes_;
};

}  // namespace tra

#endif  // TRA_REPORT_SETTING_LINES_H_
