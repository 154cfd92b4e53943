// Parses JSON from elsewhere. It is the only way in for JSON: nlohmann's own parser bounds neither nesting, which
// overflows the stack of whatever walks the document, nor size.
#ifndef TRA_BASE_JSON_H_
#define TRA_BASE_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tra/base/text.h"

namespace tra {

constexpr size_t kMostJsonBytes = size_t{64} << 20;
constexpr int kMostJsonDepth = 64;  // arrays and objects within each other
// Objects that keep their order search all of their members for each that is added.
constexpr size_t kMostOrderedMembers = 4096;

// Says why a text is not JSON that is read, as in "is not JSON: ..."; the caller knows what was read.
class JsonError : public std::runtime_error {
 public:
  explicit JsonError(const std::string& what, size_t byte = 0) : std::runtime_error(what), byte_(byte) {}
  size_t Byte() const {
    return byte_;
  }  // where the text stops being JSON, from 1; 0 if it is refused for something else

 private:
  size_t byte_;
};

// Throws JsonError.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text, size_t most_bytes = kMostJsonBytes) {
  if (text.size() > most_bytes) {
    throw JsonError("has " + std::to_string(text.size()) + " bytes of JSON, more than the " +
                    std::to_string(most_bytes) + " that are read");
  }
  constexpr bool kOrdered = std::is_same_v<Json, nlohmann::ordered_json>;
  std::vector<size_t> members;  // of each object that is open
  const auto watch = [&](int depth, typename Json::parse_event_t event, Json& /*parsed*/) {
    using Event = typename Json::parse_event_t;
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth >= kMostJsonDepth) {
      throw JsonError("is nested more than " + std::to_string(kMostJsonDepth) + " deep");
    }
    if (event == Event::object_start) members.push_back(0);
    if (event == Event::object_end) members.pop_back();
    if (kOrdered && event == Event::key && ++members.back() > kMostOrderedMembers) {
      throw JsonError("has an object of more than " + std::to_string(kMostOrderedMembers) + " members");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const typename Json::parse_error& error) {
    // The message names the place and repeats the last token, which can be as long as the text.
    throw JsonError("is not JSON: " + Shortened(error.what(), 200), error.byte);
  } catch (const typename Json::exception& error) {
    throw JsonError("is not JSON: " + Shortened(error.what(), 200));
  }
}

// Returns a discarded value instead of throwing.
template <typename Json = nlohmann::json>
Json ParseJsonIfAny(std::string_view text, size_t most_bytes = kMostJsonBytes) {
  try {
    return ParseJson<Json>(text, most_bytes);
  } catch (const JsonError&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace tra

#endif  // TRA_BASE_JSON_H_
