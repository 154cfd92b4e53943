// Times contenders in turns, and reports results as text and JSON.
//
// Machines are shared and noisy, so nothing here compares times from different runs: the contenders of a comparison run
// one after the other in each round, and the median over the rounds of their ratio is reported, with its spread.
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
  int every = 1;        // takes part in every n-th round; more than 1 for slow contenders
  bool warm_up = true;  // has an untimed run before each timed one; off for what takes seconds
};

// Runs the contenders and holds their seconds by round; NaN in rounds that a contender sat out.
class Rounds {
 public:
  Rounds(const std::vector<Contender>& contenders, int rounds);

  Spread Seconds(size_t contender) const;
  // Returns (work_a / time of a) / (work_b / time of b), computed round by round.
  Spread SpeedRatio(size_t a, double work_a, size_t b, double work_b) const;
  Spread TimeRatio(size_t a, size_t b) const { return SpeedRatio(b, 1, a, 1); }

 private:
  std::vector<std::vector<double>> seconds_;
};

// Prints a table as it grows, and keeps it for --json.
class Report {
 public:
  void Section(const std::string& title);
  void Row(const std::string& text, nlohmann::json values);
  // Adds a figure that has a goal: prints it with the goal and whether it was reached.
  void Goal(const std::string& name, const Spread& value, const char* relation, double bar);
  void WriteJson(const std::string& path) const;  // "-" is standard output
  bool quiet = false;                             // prints no text, because JSON goes to standard output
  bool judge = true;                              // off where the goals do not apply to this run's shapes

 private:
  nlohmann::json json_ = nlohmann::json::object();
  std::string section_;
};

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace tra::bench

#endif  // TRA_BENCH_REPORT_H_
