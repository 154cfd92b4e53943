#include "bench/report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace tra::bench {

Spread SpreadOf(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double x) { return std::isnan(x); }), values.end());
  if (values.empty()) return {NAN, NAN, NAN};
  std::sort(values.begin(), values.end());
  const auto at = [&](double quantile) {  // interpolates linearly between neighbours
    const double place = quantile * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.5), at(0.25), at(0.75)};
}

Rounds::Rounds(const std::vector<Contender>& contenders, int rounds) : seconds_(contenders.size()) {
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (round % contenders[i].every != 0) {
        seconds_[i].push_back(NAN);
        continue;
      }
      // Thread pools spin for a while after their work, and the threads of other pools sleep meanwhile, so each
      // contender first has an untimed run to warm up. Slow contenders do not: it would make no difference to them.
      if (contenders[i].every == 1 && contenders[i].warm_up) contenders[i].run();
      const auto start = std::chrono::steady_clock::now();
      contenders[i].run();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      seconds_[i].push_back(took.count());
    }
  }
}

Spread Rounds::Seconds(size_t contender) const { return SpreadOf(seconds_[contender]); }

Spread Rounds::SpeedRatio(size_t a, double work_a, size_t b, double work_b) const {
  std::vector<double> ratios;
  for (size_t round = 0; round < seconds_[a].size(); ++round) {
    ratios.push_back(work_a / seconds_[a][round] / (work_b / seconds_[b][round]));
  }
  return SpreadOf(ratios);
}

void Report::Section(const std::string& title) {
  section_ = title;
  json_[section_] = nlohmann::json::array();
  if (!quiet) std::printf("\n%s\n", title.c_str());
}

void Report::Row(const std::string& text, nlohmann::json values) {
  json_[section_].push_back(std::move(values));
  if (quiet) return;
  std::printf("  %s\n", text.c_str());
  std::fflush(stdout);
}

void Report::Goal(const std::string& name, const Spread& value, const char* relation, double bar) {
  const bool reached = std::string(relation) == ">=" ? value.median >= bar : value.median <= bar;
  nlohmann::json figures = {{"name", name}, {"median", value.median}, {"low", value.low}, {"high", value.high}};
  std::string verdict;
  if (judge) {
    figures["goal"] = Format("%s %g", relation, bar);
    figures["reached"] = reached;
    verdict = Format("  goal %s %.3g  %s", relation, bar, reached ? "reached" : "MISSED");
  }
  Row(Format("%-58s %8.3g  (%.3g..%.3g)%s", name.c_str(), value.median, value.low, value.high, verdict.c_str()),
      figures);
}

void Report::WriteJson(const std::string& path) const {
  const std::string text = json_.dump(2) + "\n";
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  const std::string aside = path + ".part";
  std::ofstream file(aside);
  file << text;
  file.close();
  if (!file || std::rename(aside.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot write " + path + ": check that its folder exists and has room");
  }
}

std::string Format(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace tra::bench
