#include "tra/report/csv.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tra {
namespace {

std::string EscapeCsv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string CsvNumber(double value) {
  if (std::isnan(value)) return "nan";  // to_chars would also write -nan
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string CsvRow(const std::vector<std::string>& fields) {
  std::string row;
  for (size_t at = 0; at < fields.size(); ++at) row += (at == 0 ? "" : ",") + EscapeCsv(fields[at]);
  return row + "\n";
}

}  // namespace tra
