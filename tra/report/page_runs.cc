#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "tra/report/page_parts.h"
#include "tra/report/specs.h"
#include "tra/report/success.h"
#include "tra/report/xml.h"

namespace tra {
namespace {

using nlohmann::ordered_json;
using Runs = std::vector<const ReportedRun*>;

std::string Code(const std::string& text) { return "<code>" + EscapeXml(text) + "</code>"; }

std::string EnvironmentText(const ordered_json& environment, const char* key) {
  const auto found = environment.find(key);
  if (!environment.is_object() || found == environment.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Says everything about a machine in one line: all of env.json but what belongs to the run.
std::string MachineOf(const ReportedRun& run) {
  if (!run.environment.is_object()) return "not recorded";
  std::string text;
  for (const auto& [key, value] : run.environment.items()) {
    if (key == "revision" || key == "started") continue;
    text += (text.empty() ? "" : ", ") + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

// Gives machines letters, in the order of runs.
class Machines {
 public:
  explicit Machines(const std::vector<ReportedRun>& runs) {
    for (const ReportedRun& run : runs) letters_.emplace(MachineOf(run), Letter(letters_.size()));
  }
  std::string Of(const ReportedRun& run) const { return letters_.at(MachineOf(run)); }
  std::string Html() const {
    std::map<size_t, std::string> lines;
    for (const auto& [machine, letter] : letters_) {
      lines[letter.size() * 1000 + static_cast<size_t>(letter[0])] =
          "<li><b>" + letter + "</b>: " + EscapeXml(machine) + "</li>\n";
    }
    std::string html = "<h3>Machines</h3>\n<ul class=\"machines\">\n";
    for (const auto& [order, line] : lines) html += line;
    return html + "</ul>\n";
  }

 private:
  static std::string Letter(size_t number) {
    return number < 26 ? std::string(1, static_cast<char>('A' + number)) : "M" + std::to_string(number + 1);
  }
  std::map<std::string, std::string> letters_;
};

// Returns the keys in which runs of one setting differ, besides their seed.
std::vector<std::string> DifferingKeys(const Runs& runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const ReportedRun* run : runs) {
    for (const ConfigValue& each : run->config) values[each.key].insert(each.value);
  }
  std::vector<std::string> keys;
  for (const auto& [key, all] : values) {
    if (all.size() > 1 && key != "train.seed") keys.push_back(key);
  }
  return keys;
}

std::string ValueOf(const ReportedRun& run, const std::string& key) {
  for (const ConfigValue& each : run.config) {
    if (each.key == key) return each.value;
  }
  return "";
}

struct Score {
  std::string title;
  Measure measure;
};

std::vector<Score> ScoresOf(const Runs& runs) {
  std::vector<RunResults> results;
  for (const ReportedRun* run : runs) results.push_back(run->results);
  std::vector<Score> scores;
  for (const LineSpec& line : GenericTable(results).lines) {
    const Metric& metric = FindMetric(line.measure.metric);
    if (!metric.headline || !line.measure.group.empty()) continue;
    std::string title = line.measure.split;
    if (line.measure.window > 0) title += " " + std::to_string(line.measure.window);
    scores.push_back({title + (*metric.unit == '\0' ? "" : ", " + std::string(metric.unit)), line.measure});
  }
  return scores;
}

std::string ScoreText(const RunResults& results, const Measure& measure) {
  for (const ResultRow& row : results.rows) {
    if (measure == Measure{results.task, row.split, row.group, row.window, row.metric}) {
      const Metric& metric = FindMetric(row.metric);
      return Printed(row.value * metric.scale, metric.decimals);
    }
  }
  return "";
}

std::string SeedsTable(const Runs& runs, const Machines& machines) {
  const std::vector<Score> scores = ScoresOf(runs);
  const std::vector<std::string> differing = DifferingKeys(runs);
  std::string html =
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"runs\">\n<table>\n<caption>Its "
      "runs</caption>\n<thead><tr>"
      "<th scope=\"col\" class=\"text\">seed</th><th scope=\"col\">step</th>";
  for (const Score& score : scores) html += "<th scope=\"col\">" + EscapeXml(score.title) + "</th>";
  for (const std::string& key : differing) html += "<th scope=\"col\">" + EscapeXml(key) + "</th>";
  html +=
      "<th scope=\"col\">revision</th><th scope=\"col\">started</th><th scope=\"col\">machine</th><th scope=\"col\" "
      "class=\"text\">folder</th></tr></thead>\n<tbody>\n";
  for (const ReportedRun* run : runs) {
    html += "<tr><th scope=\"row\">" + std::to_string(run->results.seed) + "</th><td>" +
            (run->trouble.empty() ? std::to_string(run->results.step) : EscapeXml(run->trouble)) + "</td>";
    for (const Score& score : scores) html += "<td>" + ScoreText(run->results, score.measure) + "</td>";
    for (const std::string& key : differing) html += "<td>" + EscapeXml(ValueOf(*run, key)) + "</td>";
    html += "<td>" + Code(EnvironmentText(run->environment, "revision")) + "</td><td>" +
            EscapeXml(EnvironmentText(run->environment, "started")) + "</td><td>" + machines.Of(*run) +
            "</td><td class=\"text\">" + Code(run->folder) + "</td></tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

std::string DifferencesTable(const ReportedRun& run) {
  std::string rows;
  for (const ConfigValue& each : run.config) {
    if (each.value == each.usual || each.key == "train.seed" || each.key == "label") continue;
    rows += "<tr><th scope=\"row\">" + Code(each.key) + "</th><td>" + EscapeXml(each.value) + "</td><td>" +
            EscapeXml(each.usual) + "</td><td class=\"words\">" + EscapeXml(each.meaning) + "</td></tr>\n";
  }
  if (rows.empty()) return "<p>Its configuration has the defaults of every key.</p>\n";
  return "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"differences from the defaults\">\n<table>\n"
         "<caption>Where its configuration differs from the defaults</caption>\n<thead><tr><th scope=\"col\" "
         "class=\"text\">key"
         "</th><th scope=\"col\">value</th><th scope=\"col\">default</th><th scope=\"col\" class=\"text\">meaning</th>"
         "</tr></thead>\n<tbody>\n" +
         rows + "</tbody>\n</table>\n</div>\n";
}

// Returns all keys as TOML, which tra train reads.
std::string WholeConfig(const ReportedRun& run) {
  std::string toml, section;
  for (const ConfigValue& each : run.config) {
    const size_t dot = each.key.find('.');
    const std::string group = dot == std::string::npos ? "" : each.key.substr(0, dot);
    if (group != section) toml += "\n[" + group + "]\n";
    section = group;
    toml += (dot == std::string::npos ? each.key : each.key.substr(dot + 1)) + " = " + each.value + "\n";
  }
  return "<details><summary>The whole configuration, of seed " + std::to_string(run.results.seed) +
         "</summary>\n<pre>" + EscapeXml(toml) + "</pre></details>\n";
}

std::string SettingHtml(const std::string& task, const Column& column, const Runs& runs, const Machines& machines) {
  size_t solved = 0, can_be_solved = 0;
  for (const ReportedRun* run : runs) {
    const auto solves = Solved(run->results);
    can_be_solved += solves ? 1 : 0;
    solved += solves.value_or(false) ? 1 : 0;
  }
  std::string html = "<details class=\"setting print\">\n<summary>" + EscapeXml(task + " · " + column.Title()) +
                     " <span>— " + std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs");
  if (can_be_solved > 0) html += ", " + std::to_string(solved) + " of " + std::to_string(can_be_solved) + " solved";
  html += "</span></summary>\n" + SeedsTable(runs, machines);
  const ReportedRun& first = *runs.front();
  if (first.config.empty()) {
    const std::string why = first.config_trouble.empty() ? "it is not there" : first.config_trouble;
    return html + "<p>Its configuration cannot be shown: " + EscapeXml(why) + ".</p>\n</details>\n";
  }
  html += DifferencesTable(first) + WholeConfig(first);
  return html + "<p>Train one again: <code>tra train " +
         EscapeXml((std::filesystem::path(first.folder) / "config.toml").string()) +
         " --run FOLDER</code></p>\n</details>\n";
}

}  // namespace

std::string RunsHtml(const std::vector<ReportedRun>& runs) {
  std::map<std::string, std::map<Column, Runs, InPaperOrder>> tasks;
  for (const ReportedRun& run : runs) {
    tasks[run.results.task][{run.results.attention, run.results.label}].push_back(&run);
  }
  const Machines machines(runs);
  std::string html = "<p>By task and setting; open one for its runs, configuration, revisions and machines.</p>\n";
  for (auto& [task, settings] : tasks) {
    for (auto& [column, of] : settings) {
      std::sort(of.begin(), of.end(), [](const ReportedRun* a, const ReportedRun* b) {
        return std::tie(a->results.seed, a->folder) < std::tie(b->results.seed, b->folder);
      });
      html += SettingHtml(task, column, of, machines);
    }
  }
  return html + machines.Html();
}

}  // namespace tra
