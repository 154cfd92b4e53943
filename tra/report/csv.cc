#include "tra/report/csv.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "tra/base/text.h"

namespace tra {
namespace {

bool IsNumber(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

std::string EscapeCsv(const std::string& field) {
  std::string text = WithoutControls(field, "\n\t");
  const bool formula = !text.empty() && std::strchr("=+-@\t\r\n", text[0]) != nullptr && text[0] != '\0';
  if (formula && !IsNumber(text)) text.insert(0, "'");
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
