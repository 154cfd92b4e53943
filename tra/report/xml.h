// Escapes text for XML and HTML, in elements and in attributes with double quotes.
#ifndef TRA_REPORT_XML_H_
#define TRA_REPORT_XML_H_

#include <string>
#include <string_view>

namespace tra {

inline std::string EscapeXml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // No other control character is allowed in XML, not even escaped.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

}  // namespace tra

#endif  // TRA_REPORT_XML_H_
