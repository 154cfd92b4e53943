#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tra/report/page_parts.h"
#include "tra/report/xml.h"

namespace tra {
namespace {

std::string Base64(const std::vector<uint8_t>& bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i) three = three << 8 | (i < count ? bytes[at + i] : 0);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kLetters[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

const char kHeatmapsKey[] =
    "<div class=\"key\" aria-hidden=\"true\"><span><i class=\"ramp\"></i>weight 0 to 1, by its root</span>"
    "<span><i style=\"background:var(--dropped)\"></i>dropped: score not above the threshold, weight exactly 0</span>"
    "<span><i style=\"background:var(--skipped)\"></i>behind the early stop</span>"
    "<span><i style=\"background:var(--future)\"></i>comes later</span></div>\n";

uint8_t CellOf(double weight) {
  if (!(weight >= 0)) throw std::invalid_argument("a weight must be 0 or above");
  constexpr double kSteps = 253;
  return static_cast<uint8_t>(std::lround(std::sqrt(std::min(weight, 1.0)) * kSteps) +
                              static_cast<int>(CellCode::kZero));
}

std::string HeatmapsHtml(const Heatmaps& heatmaps, size_t number) {
  std::string html = "<div class=\"look\">\n<h3>" + EscapeXml(heatmaps.title) + "</h3>\n";
  if (!heatmaps.note.empty()) html += "<p>" + EscapeXml(heatmaps.note) + "</p>\n";
  html += "<div data-heatmaps=\"" + std::to_string(number) + "\"></div>\n";
  html += "<details class=\"tokens\"><summary>The input, its answers marked</summary><p><code>";
  for (size_t i = 0; i < heatmaps.tokens.size(); ++i) {
    const std::string token = EscapeXml(heatmaps.tokens[i]);
    html += (i == 0 ? "" : " ") + (heatmaps.answers[i] ? "<mark>" + token + "</mark>" : token);
  }
  return html + "</code></p></details>\n</div>\n";
}

nlohmann::ordered_json HeatmapsJson(const Heatmaps& heatmaps) {
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();
  for (const HeadCells& head : heatmaps.heads) {
    heads.push_back({{"name", head.name}, {"words", head.words}, {"cells", Base64(head.cells)}});
  }
  return {{"tokens", heatmaps.tokens}, {"threshold", heatmaps.threshold}, {"heads", std::move(heads)}};
}

}  // namespace tra
