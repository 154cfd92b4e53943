// Reads the fields of a request to the explorer, and checks them.
#ifndef TRA_VIEW_REQUEST_H_
#define TRA_VIEW_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tra/inspect/inspected_run.h"

namespace tra {

// Writes numbers as the shortest decimals that read back to the same float32; what is not finite becomes null.
using ViewJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, int64_t, uint64_t, float>;

// All that return something throw std::invalid_argument that names the field and says what it must be.
class ViewRequest {
 public:
  // No input has more tokens than the limit.
  ViewRequest(ViewJson json, int64_t token_limit) : json_(std::move(json)), token_limit_(token_limit) {}

  bool Has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  int64_t Integer(const char* key, int64_t low, int64_t high, std::optional<int64_t> otherwise = std::nullopt) const;
  std::string String(const char* key) const;
  std::vector<int32_t> Tokens() const;
  HeadId Head() const;
  // Returns a part [first, last) of what is this long; all of it if the request does not say.
  std::pair<int64_t, int64_t> Part(const char* key, int64_t length) const;
  std::optional<float> LogGate() const;
  uint64_t Index() const;
  Example ExampleOf(InspectedRun& run) const;

  void CheckLength(size_t tokens) const;
  [[noreturn]] static void Fail(const std::string& key, const std::string& what);

 private:
  ViewJson json_;
  int64_t token_limit_;
};

}  // namespace tra

#endif  // TRA_VIEW_REQUEST_H_
