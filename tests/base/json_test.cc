#include "tra/base/json.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

template <typename Json = nlohmann::json>
std::string Failure(const std::string& text, size_t most = kMostJsonBytes) {
  try {
    ParseJson<Json>(text, most);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "no failure";
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ParseJson, GivesWhatTheTextSays) {
  EXPECT_EQ(ParseJson(R"({"a":[1,2.5,"x",null,true,{}]})").dump(), R"({"a":[1,2.5,"x",null,true,{}]})");
  EXPECT_EQ(ParseJson<nlohmann::ordered_json>(R"({"b":1,"a":2})").dump(), R"({"b":1,"a":2})");
}

TEST(ParseJson, DeepNestingIsRefused) {
  EXPECT_EQ(Failure(Repeated("[", kMostJsonDepth) + Repeated("]", kMostJsonDepth)), "no failure");
  EXPECT_EQ(Failure(Repeated("[", kMostJsonDepth + 1)), "is nested more than 64 deep");
  EXPECT_EQ(Failure(Repeated("[", 200'000) + Repeated("]", 200'000)), "is nested more than 64 deep");
  EXPECT_EQ(Failure(Repeated("{\"a\":", 200'000)), "is nested more than 64 deep");
  EXPECT_TRUE(ParseJsonIfAny(Repeated("[", 200'000)).is_discarded());
}

TEST(ParseJson, LongTextsAreRefused) {
  EXPECT_EQ(Failure("[1,2]", 4), "has 5 bytes of JSON, more than the 4 that are read");
}

TEST(ParseJson, ManyMembersInOrderAreRefused) {
  std::string text = R"({"a":[{"b":1},{"c":1}])";
  for (size_t i = 1; i < kMostOrderedMembers; ++i) text += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(Failure<nlohmann::ordered_json>(text + "}"), "no failure");
  EXPECT_EQ(Failure<nlohmann::ordered_json>(text + ",\"x\":0}"), "has an object of more than 4096 members");
  EXPECT_EQ(Failure(text + ",\"x\":0}"), "no failure");
}

TEST(ParseJson, WhatIsNotJsonIsSaidShortly) {
  EXPECT_EQ(Failure("{\"a\" 1}").find("is not JSON: [json.exception.parse_error.101]"), 0u);
  EXPECT_LT(Failure("[\"" + std::string(1'000'000, 'x')).size(), 300u);
  EXPECT_EQ(Failure("[1e999]").find("is not JSON: "), 0u);
  EXPECT_TRUE(ParseJsonIfAny("").is_discarded());
}

}  // namespace
}  // namespace tra
