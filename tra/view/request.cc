#include "tra/view/request.h"

#include <cmath>
#include <stdexcept>

namespace tra {

void ViewRequest::Fail(const std::string& key, const std::string& what) {
  throw std::invalid_argument(key + " " + what);
}

int64_t ViewRequest::Integer(const char* key, int64_t low, int64_t high, std::optional<int64_t> otherwise) const {
  const auto found = json_.find(key);
  if (found == json_.end() && otherwise) return *otherwise;
  if (found == json_.end() || !found->is_number_integer()) Fail(key, "must be an integer");
  // A number above 2^63 is unsigned and would wrap around.
  const bool huge = found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (huge || found->get<int64_t>() < low || found->get<int64_t>() > high) {
    Fail(key, "must be from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return found->get<int64_t>();
}

std::string ViewRequest::String(const char* key) const {
  const auto found = json_.find(key);
  if (found == json_.end() || !found->is_string()) Fail(key, "must be a string");
  return found->get<std::string>();
}

std::vector<int32_t> ViewRequest::Tokens() const {
  const auto found = json_.find("tokens");
  if (found == json_.end() || !found->is_array()) Fail("tokens", "must be a list of ids");
  CheckLength(found->size());
  std::vector<int32_t> tokens;
  for (const ViewJson& each : *found) {
    if (!each.is_number_integer() || each.get<int64_t>() < 0 || each.get<int64_t>() > INT32_MAX) {
      Fail("tokens", "must be a list of ids");
    }
    tokens.push_back(each.get<int32_t>());
  }
  return tokens;
}

HeadId ViewRequest::Head() const {
  return {Integer("layer", 0, INT32_MAX), Integer("head", 0, INT32_MAX), Integer("attention", 0, 1, 0)};
}

std::pair<int64_t, int64_t> ViewRequest::Part(const char* key, int64_t length) const {
  const auto found = json_.find(key);
  if (found == json_.end()) return {0, length};
  const bool pair =
      found->is_array() && found->size() == 2 && (*found)[0].is_number_integer() && (*found)[1].is_number_integer();
  if (!pair) Fail(key, "must be two integers, [first, last)");
  const auto first = (*found)[0].get<int64_t>(), last = (*found)[1].get<int64_t>();
  if (first < 0 || first >= last || last > length) {
    Fail(key, "must be a part of 0 to " + std::to_string(length) + " that is not empty");
  }
  return {first, last};
}

std::optional<float> ViewRequest::LogGate() const {
  if (!Has("log_gate")) return std::nullopt;
  const ViewJson& gate = json_.at("log_gate");
  const bool sound = gate.is_number() && gate.get<float>() <= 0 && std::isfinite(gate.get<float>());
  if (!sound) Fail("log_gate", "must be a number of at most 0");
  return gate.get<float>();
}

uint64_t ViewRequest::Index() const { return static_cast<uint64_t>(Integer("index", 0, INT32_MAX)); }

Example ViewRequest::ExampleOf(InspectedRun& run) const {
  std::optional<int64_t> length;
  if (Has("length")) length = Integer("length", 1, token_limit_);  // no example has fewer tokens than its length
  return run.At(String("split"), Index(), length);
}

void ViewRequest::CheckLength(size_t tokens) const {
  if (tokens <= static_cast<size_t>(token_limit_)) return;
  throw std::invalid_argument("there are " + std::to_string(tokens) + " tokens; the explorer takes up to " +
                              std::to_string(token_limit_) + " (tra view --tokens)");
}

}  // namespace tra
