// Timing by turns, and results as text and JSON.
//
// Machines are shared and noisy, so nothing here compares two times taken apart: the contenders of a comparison run one
// after the other in each round, and what is reported is the median over the rounds of their ratio, with its spread.
#ifndef TRA_BENCH_REPORT_H_
#define TRA_BENCH_REPORT_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tra::bench {

struct Spread {
  double median = 0, low = 0, high = 0;  // low and high: the middle half of the rounds
};

Spread SpreadOf(std::vector<double> values);

struct Contender {
  std::string name;
  std::function<void()> run;
  int every = 1;        // takes part in every n-th round: for the slow ones
  bool warm_up = true;  // an untimed run before each timed one: not for what takes seconds
};

// Seconds by contender and round; NaN in rounds it sat out.
class Rounds {
 public:
  Rounds(const std::vector<Contender>& contenders, int rounds);

  Spread Seconds(size_t contender) const;
  // work[a] / time[a] over work[b] / time[b], round by round.
  Spread SpeedRatio(size_t a, double work_a, size_t b, double work_b) const;
  Spread TimeRatio(size_t a, size_t b) const { return SpeedRatio(b, 1, a, 1); }

 private:
  std::vector<std::vector<double>> seconds_;
};

// A table that is printed as it grows and kept for --json.
class Report {
 public:
  void Section(const std::string& title);
  void Row(const std::string& text, nlohmann::json values);
  // A figure that has a bar to pass: printed with the bar and whether it was reached.
  void Goal(const std::string& name, const Spread& value, const char* relation, double bar);
  void WriteJson(const std::string& path) const;  // "-" is standard output
  bool quiet = false;                             // no text: JSON goes to standard output
  bool judge = true;                              // off where this run's shapes are not those the bars are for

 private:
  nlohmann::json json_ = nlohmann::json::object();
  std::string section_;
};

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace tra::bench

#endif  // TRA_BENCH_REPORT_H_
