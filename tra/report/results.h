// Reads and writes what evaluations of a run found.
#ifndef TRA_REPORT_RESULTS_H_
#define TRA_REPORT_RESULTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tra {

struct ResultRow {
  std::string split;
  std::string group;   // of examples, such as "after-first"; "" is all of them
  int64_t window = 0;  // language modelling: tokens of context; 0 elsewhere
  std::string metric;  // "em", "token_error", "ppl_token", "ppl_word", "loss"
  double value = 0.0;  // shares are not in percent; may be NaN or infinite
  int64_t n = 0;       // number of examples or tokens that it is a mean over
};

struct RunResults {
  std::string task, attention;
  std::string label;  // tells settings of one attention apart; may be empty
  uint64_t seed = 0;
  int64_t step = 0;
  std::vector<ResultRow> rows;
  // Holds what a number depends on and its row does not say: tokenizer, stride, ... Tables of language modelling print
  // it.
  nlohmann::ordered_json context = nlohmann::ordered_json::object();
  std::string file;  // where it was read from, for messages; not part of the file
};

// Converts a number to JSON, which has neither NaN nor infinities: NaN becomes null, infinities "inf" and "-inf".
nlohmann::ordered_json NumberToJson(double value);

nlohmann::ordered_json ToJson(const RunResults& results);
// Reads results strictly: every field must be there and of its type, none may be unknown, no row may occur twice.
// Throws std::runtime_error that begins with `file` and names the field.
RunResults FromJson(const nlohmann::ordered_json& json, const std::string& file);

// Both throw std::runtime_error that begins with the path. Results that could not be read back are not written.
RunResults ReadResults(const std::string& path);
void WriteResults(const std::string& path, const RunResults& results);

}  // namespace tra

#endif  // TRA_REPORT_RESULTS_H_
