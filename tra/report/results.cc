#include "tra/report/results.h"

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "tra/base/atomic_file.h"
#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/base/names.h"
#include "tra/base/text.h"
#include "tra/report/csv.h"
#include "tra/report/measure.h"

namespace tra {
namespace {

using nlohmann::ordered_json;

constexpr char kFormat[] = "tra-results";
constexpr int kVersion = 1;

// Takes the fields of one object, with messages that say where the object is.
class Fields {
 public:
  // `where` says where the object is in the file; "" stands for the whole file.
  Fields(const ordered_json& object, std::string file, std::string where)
      : object_(object), file_(std::move(file)), where_(std::move(where)) {
    if (!object.is_object()) {
      throw std::runtime_error(file_ + ": " + (where_.empty() ? "the whole" : where_) + " must be an object, got " +
                               object.type_name());
    }
  }

  [[noreturn]] void Fail(const std::string& field, const std::string& what) const {
    throw std::runtime_error(file_ + ": " + where_ + (where_.empty() ? "" : ".") + field + " " + Shortened(what, 300));
  }

  const ordered_json& Take(std::string_view field) {
    const std::string& name = taken_.emplace_back(field);
    const auto found = object_.find(name);
    if (found == object_.end()) Fail(name, "is missing; evaluate the run again");
    return *found;
  }

  std::string Text(const std::string& field, bool may_be_empty) {
    const ordered_json& in = Take(field);
    if (!in.is_string()) Fail(field, "must be a string, got " + in.dump());
    if (!may_be_empty && in.get<std::string>().empty()) Fail(field, "must not be empty");
    return in.get<std::string>();
  }

  // Strict, because nlohmann's own conversions would read 4.9 as 4, true as 1 and -1 as the largest integer.
  uint64_t Unsigned(const std::string& field, uint64_t lowest, uint64_t highest) {
    const ordered_json& in = Take(field);
    if (!in.is_number_integer()) Fail(field, "must be an integer, got " + in.dump());
    const bool negative = !in.is_number_unsigned() && in.get<int64_t>() < 0;
    if (negative || in.get<uint64_t>() < lowest || in.get<uint64_t>() > highest) {
      Fail(field, "must be from " + std::to_string(lowest) + " to " + std::to_string(highest) + ", got " + in.dump());
    }
    return in.get<uint64_t>();
  }

  int64_t Integer(const std::string& field, int64_t lowest) {
    return static_cast<int64_t>(Unsigned(field, static_cast<uint64_t>(lowest), INT64_MAX));
  }

  double Number(const std::string& field) {
    const ordered_json& in = Take(field);
    if (in.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (in == "inf") return std::numeric_limits<double>::infinity();
    if (in == "-inf") return -std::numeric_limits<double>::infinity();
    if (!in.is_number()) Fail(field, "must be a number, null for NaN, \"inf\" or \"-inf\", got " + in.dump());
    return in.get<double>();
  }

  // Throws for a field that was not taken: a misspelt one would otherwise be silently ignored.
  void RefuseOthers() const {
    for (const auto& [field, value] : object_.items()) {
      bool known = false;
      for (const std::string& each : taken_) known = known || each == field;
      if (known) continue;
      throw std::runtime_error(file_ + ": " +
                               UnknownName(where_.empty() ? "field" : "field of " + where_, field, taken_));
    }
  }

 private:
  const ordered_json& object_;
  std::string file_, where_;
  std::vector<std::string> taken_;
};

ResultRow RowFromJson(const ordered_json& json, const std::string& file, const std::string& where) {
  Fields fields(json, file, where);
  ResultRow row;
  row.split = fields.Text("split", /*may_be_empty=*/false);
  row.group = fields.Text("group", /*may_be_empty=*/true);
  row.window = fields.Integer("window", 0);
  row.metric = fields.Text("metric", /*may_be_empty=*/false);
  row.value = fields.Number("value");
  if (FindMetric(row.metric).scale == 100 && (row.value < 0 || row.value > 1)) {
    fields.Fail("value", "of " + row.metric + " must be a share from 0 to 1, got " + CsvNumber(row.value));
  }
  row.n = fields.Integer("n", 1);
  fields.RefuseOthers();
  return row;
}

}  // namespace

ordered_json NumberToJson(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

ordered_json ToJson(const RunResults& results) {
  ordered_json rows = ordered_json::array();
  for (const ResultRow& row : results.rows) {
    rows.push_back({{"split", row.split},
                    {"group", row.group},
                    {"window", row.window},
                    {"metric", row.metric},
                    {"value", NumberToJson(row.value)},
                    {"n", row.n}});
  }
  return {{"format", kFormat},      {"version", kVersion},  {"task", results.task}, {"attention", results.attention},
          {"label", results.label}, {"seed", results.seed}, {"step", results.step}, {"context", results.context},
          {"rows", std::move(rows)}};
}

RunResults FromJson(const ordered_json& json, const std::string& file) {
  Fields fields(json, file, "");
  const ordered_json& format = fields.Take("format");
  if (format != kFormat) fields.Fail("format", "must be \"" + std::string(kFormat) + "\", got " + format.dump());
  const ordered_json& version = fields.Take("version");
  if (version != kVersion) {
    fields.Fail("version", "must be " + std::to_string(kVersion) + ", got " + version.dump() +
                               "; read it with the program that wrote it, or evaluate the run again");
  }
  RunResults results;
  results.task = fields.Text("task", /*may_be_empty=*/false);
  results.attention = fields.Text("attention", /*may_be_empty=*/false);
  results.label = fields.Text("label", /*may_be_empty=*/true);
  results.seed = fields.Unsigned("seed", 0, UINT64_MAX);
  results.step = fields.Integer("step", 0);
  results.context = fields.Take("context");
  if (!results.context.is_object()) fields.Fail("context", "must be an object, got " + results.context.dump());
  const ordered_json& rows = fields.Take("rows");
  if (!rows.is_array()) fields.Fail("rows", "must be an array, got " + std::string(rows.type_name()));
  fields.RefuseOthers();

  std::set<std::tuple<std::string, std::string, int64_t, std::string>> seen;
  for (size_t at = 0; at < rows.size(); ++at) {
    const std::string where = "rows[" + std::to_string(at) + "]";
    const ResultRow row = RowFromJson(rows[at], file, where);
    if (!seen.emplace(row.split, row.group, row.window, row.metric).second) {
      fields.Fail(where, "has the split, group, window and metric of an earlier row");
    }
    results.rows.push_back(row);
  }
  results.file = file;
  return results;
}

RunResults ReadResults(const std::string& path) {
  const std::string text = ReadFile(path, kMostJsonBytes);
  ordered_json json;
  try {
    json = ParseJson<ordered_json>(text);
  } catch (const JsonError& error) {
    throw std::runtime_error(path + ": " + error.what() + "; evaluate the run again");
  }
  return FromJson(json, path);
}

void WriteResults(const std::string& path, const RunResults& results) {
  std::string text;
  try {
    const ordered_json json = ToJson(results);
    FromJson(json, path);
    text = json.dump(1) + "\n";
  } catch (const nlohmann::json::exception& error) {  // text that is not UTF-8
    throw std::runtime_error(path + ": " + error.what());
  }
  AtomicFile file(path);
  file.Write(text.data(), text.size());
  file.Commit();
}

}  // namespace tra
