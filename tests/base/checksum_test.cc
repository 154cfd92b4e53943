#include "tra/base/checksum.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

// The example "abc" is from FIPS 180-2, appendix B.
TEST(Checksum, IsSha256) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Checksum, DoesNotSeeHowTheBytesWereParted) {
  Sha256 parts;
  parts.Add("a");
  parts.Add("");
  parts.Add("bc");
  EXPECT_EQ(parts.Hex(), Sha256Hex("abc"));
}

}  // namespace
}  // namespace tra
