// Tests round trips, and every way in which a file can be wrong, each by its error message.
#include "tra/model/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/base/files.h"

namespace tra {
namespace {

using Names = std::set<std::string>;
using Tensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

// Returns the bytes of a file made by hand: the header as given, then the data.
std::string File(const std::string& json, const std::string& data = "") {
  const uint64_t length = json.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + json + data;
}

SafetensorsFile Parse(const std::string& bytes) { return ParseSafetensors(bytes.data(), bytes.size(), "weights"); }

void ExpectRejected(const std::string& bytes, const std::string& message) {
  try {
    Parse(bytes);
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const SafetensorsError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 9 + message.size()), "weights: " + message) << error.what();
  }
}

// Expects an error for one tensor "a" with this entry and this many zero bytes of data.
void ExpectEntryRejected(const std::string& entry, size_t data_size, const std::string& message) {
  ExpectRejected(File("{\"a\":" + entry + "}", std::string(data_size, '\0')), "tensor \"a\": " + message);
}

// Compares bit for bit, so that NaNs are compared too.
void ExpectSame(const at::Tensor& got, const at::Tensor& want) {
  ASSERT_EQ(got.scalar_type(), want.scalar_type());
  ASSERT_EQ(got.sizes(), want.sizes());
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_FALSE(got.requires_grad());
  const at::Tensor plain = want.detach().contiguous().resolve_neg();
  if (plain.numel() == 0) return;
  EXPECT_EQ(std::memcmp(got.data_ptr(), plain.data_ptr(), plain.nbytes()), 0);
}

void ExpectRoundTrip(const Tensors& tensors, const Metadata& metadata = {}) {
  const TemporaryDirectory directory;
  const std::string path = directory / "weights.safetensors";
  WriteSafetensors(path, tensors, metadata);
  EXPECT_EQ(directory.Names(), Names{"weights.safetensors"});
  const SafetensorsFile read = ReadSafetensors(path);
  EXPECT_EQ(read.metadata, metadata);
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    SCOPED_TRACE(name);
    ASSERT_EQ(read.tensors.count(name), 1u);
    ExpectSame(read.tensors.at(name), tensor);
  }
}

constexpr at::ScalarType kAllDtypes[] = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                         at::kInt,    at::kShort, at::kChar, at::kByte,     at::kBool};

Tensors OfAllDtypes() {
  at::manual_seed(1);
  Tensors tensors;
  for (const at::ScalarType dtype : kAllDtypes) {
    const std::string name = c10::toString(dtype);
    tensors[name] = at::randn({3, 5}).mul(3).to(dtype);
    tensors[name + " scalar"] = at::ones({}, dtype);
    tensors[name + " empty"] = at::empty({4, 0, 2}, dtype);
  }
  return tensors;
}

TEST(SafetensorsRoundTrip, EveryDtypeScalarsAndEmptyTensors) { ExpectRoundTrip(OfAllDtypes(), {{"step", "12"}}); }

TEST(SafetensorsRoundTrip, NoTensorsAtAll) {
  ExpectRoundTrip({});
  ExpectRoundTrip({}, {{"only", "metadata"}});
}

TEST(SafetensorsRoundTrip, ExtremeValuesKeepTheirBits) {
  const double inf = std::numeric_limits<double>::infinity();
  const at::Tensor x = at::tensor({0.0, -0.0, inf, -inf, std::nan("7"), 5e-324}, at::kDouble);
  ExpectRoundTrip({{"double", x}, {"float", x.to(at::kFloat)}, {"half", x.to(at::kHalf)}});
}

TEST(SafetensorsRoundTrip, ViewsAreWrittenAsTheirElements) {
  const at::Tensor x = at::arange(24, at::kFloat).view({2, 3, 4}).set_requires_grad(true);
  // This tensor is contiguous, but has the bit set that says its elements are negated.
  const at::Tensor negated = at::imag(at::randn({1}, at::kComplexFloat).conj());
  ASSERT_TRUE(negated.is_neg() && negated.is_contiguous());
  ExpectRoundTrip({{"transposed", x.transpose(0, 2)},
                   {"sliced", x.slice(2, 1, 4, 2)},
                   {"expanded", x.select(0, 1).unsqueeze(0).expand({5, 3, 4})},
                   {"negated", negated}});
}

TEST(SafetensorsRoundTrip, NamesAndMetadataOfAnyText) {
  Tensors tensors;
  const std::vector<std::string> names = {
      "",      "plain", "layer.0/weight", "\"quoted\" and \\",       "line\nbreak\ttab\x01\x7f",
      "größe", "重み",  "\U0001F511",     std::string("nul\0nul", 7)};
  Metadata metadata;
  for (size_t i = 0; i < names.size(); ++i) {
    tensors[names[i]] = at::full({2}, static_cast<double>(i));
    metadata[names[i]] = names[names.size() - 1 - i];
  }
  ExpectRoundTrip(tensors, metadata);
}

TEST(SafetensorsRead, BytesMadeByHand) {
  const float values[] = {1.5f, -2.0f};
  std::string data = std::string("\x01\x00\x07", 3);
  data.append(reinterpret_cast<const char*>(values), sizeof(values));  // not aligned: the format does not ask for it
  const SafetensorsFile file = Parse(File(
      "{ \"b\": {\"shape\": [2, 1], \"data_offsets\": [3, 11], \"dtype\": \"F32\"},\n"
      "\"__metadata__\": {\"k\\u00e9y\": \"v\"}, \"a\": {\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}  ",
      data));
  EXPECT_EQ(file.metadata, (Metadata{{"k\u00e9y", "v"}}));
  ASSERT_EQ(file.tensors.size(), 2u);
  ExpectSame(file.tensors.at("a"), at::tensor({1, 0, 7}, at::kByte));
  ExpectSame(file.tensors.at("b"), at::tensor({1.5f, -2.0f}).view({2, 1}));
}

TEST(SafetensorsRead, TensorsOwnTheirMemory) {
  std::string bytes = File(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "xy");
  const at::Tensor a = Parse(bytes).tensors.at("a");
  bytes.assign(bytes.size(), 'z');
  ExpectSame(a, at::tensor({'x', 'y'}, at::kByte));
}

TEST(SafetensorsRead, MissingFilesAndDirectoriesAreNamed) {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& path) -> std::string {
    try {
      ReadSafetensors(path);
    } catch (const SafetensorsError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(directory / "none"),
            directory / "none" + ": cannot open: No such file or directory; check the path");
  EXPECT_EQ(message(directory / ""), directory / "" + ": is not a regular file; name a file");
  std::ofstream(directory / "short") << "abc";
  EXPECT_EQ(message(directory / "short"),
            directory / "short" + ": 3 bytes cannot hold a safetensors header; the file is truncated: copy it again");
}

TEST(SafetensorsRead, RejectsFilesTooShortForTheirHeader) {
  ExpectRejected("", "0 bytes cannot hold a safetensors header; the file is truncated: copy it again");
  ExpectRejected("1234567", "7 bytes cannot hold a safetensors header; the file is truncated: copy it again");
  const std::string file = File("{}      ");
  ExpectRejected(file.substr(0, 15), "header of 8 bytes in a file of 15; the file is truncated: copy it again");
  EXPECT_TRUE(Parse(file).tensors.empty());
}

TEST(SafetensorsRead, RejectsHeadersBeyondTheLimit) {
  std::string file = File("{}");
  file[4] = 1;
  ExpectRejected(file, "a header of 4294967298 bytes is beyond the limit of 100000000; this is not a safetensors file");
  ExpectRejected(std::string(64, '\xff'), "a header of 18446744073709551615 bytes is beyond the limit");
}

TEST(SafetensorsRead, RejectsHeadersThatAreNoJsonObject) {
  for (const char* json : {"", "[]", "null", " {}", "\xef\xbb\xbf{}", "12"}) {
    ExpectRejected(File(json), "header is not a JSON object; the file is damaged");
  }
  // The parser alone would stop at the NUL and not see the rest.
  ExpectRejected(File(std::string("{}\0junk", 7)), "header is not a JSON object; the file is damaged");
  for (const char* json : {"{", "{\"a\"}", "{}}", "{} x", "{'a':1}", "{\"__metadata__\":{},}", "{/**/}",
                           "{\"\xff\":{}}", "{\"\\ud800\":{}}", "{\"\n\":{}}"}) {
    ExpectRejected(File(json), "header is not JSON in UTF-8 (at its byte ");
  }
}

TEST(SafetensorsRead, RejectsDeepNestingBeforeItCostsAnything) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  ExpectRejected(File(deep), "tensor \"a\": has an unknown field \"a\"");
  ExpectRejected(File("{\"a\":{\"shape\":" + std::string(1'000'000, '[')),
                 "tensor \"a\": shape must hold whole numbers from 0 up, not an array");
  ExpectRejected(File("{\"__metadata__\":{\"k\":{\"k\":{}}}}"), "metadata \"k\" must be a string, not an object");
}

TEST(SafetensorsRead, RejectsDuplicates) {
  const std::string entry = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  ExpectRejected(File("{\"a\":" + entry + ",\"a\":" + entry + "}"), "\"a\" appears twice");
  ExpectRejected(File("{\"a\":" + entry + ",\"\\u0061\":" + entry + "}"), "\"a\" appears twice");
  ExpectRejected(File(R"({"__metadata__":{},"__metadata__":{}})"), "\"__metadata__\" appears twice");
  ExpectRejected(File(R"({"__metadata__":{"k":"1","k":"2"}})"), "metadata \"k\" appears twice");
  ExpectEntryRejected(R"({"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]})", 0, "dtype appears twice");
}

TEST(SafetensorsRead, RejectsMissingAndUnknownFields) {
  ExpectEntryRejected(R"({"shape":[0],"data_offsets":[0,0]})", 0, "lacks dtype");
  ExpectEntryRejected(R"({"dtype":"U8","data_offsets":[0,0]})", 0, "lacks shape");
  ExpectEntryRejected(R"({"dtype":"U8","shape":[0]})", 0, "lacks data_offsets");
  ExpectEntryRejected(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0],"strides":[1]})", 0,
                      "has an unknown field \"strides\"");
}

TEST(SafetensorsRead, RejectsFieldsOfTheWrongType) {
  ExpectRejected(File(R"({"a":[]})"), "\"a\" must be an object, not an array");
  ExpectRejected(File(R"({"a":null})"), "\"a\" must be an object, not null");
  ExpectRejected(File(R"({"__metadata__":"x"})"), "\"__metadata__\" must be an object, not a string");
  ExpectRejected(File(R"({"__metadata__":{"k":1}})"), "metadata \"k\" must be a string, not a number");
  ExpectEntryRejected(R"({"dtype":8})", 0, "dtype must be a string, not a number");
  ExpectEntryRejected(R"({"dtype":[]})", 0, "dtype must be a string, not an array");
  ExpectEntryRejected(R"({"shape":4})", 0, "shape must be an array, not a number");
  ExpectEntryRejected(R"({"shape":{}})", 0, "shape must be an array, not an object");
  ExpectEntryRejected(R"({"shape":["4"]})", 0, "shape must hold whole numbers from 0 up, not a string");
  ExpectEntryRejected(R"({"shape":[true]})", 0, "shape must hold whole numbers from 0 up, not true or false");
  ExpectEntryRejected(R"({"shape":[4.0]})", 0, "shape must hold whole numbers from 0 up, not a number that is frac");
  ExpectEntryRejected(R"({"data_offsets":[0]})", 0, "data_offsets must be two numbers, [begin, end]");
  ExpectEntryRejected(R"({"data_offsets":[0,0,0]})", 0, "data_offsets must be two numbers, [begin, end]");
  ExpectEntryRejected(R"({"data_offsets":"0,0"})", 0, "data_offsets must be an array, not a string");
}

TEST(SafetensorsRead, NamesTheDtypeItDoesNotKnow) {
  ExpectEntryRejected(
      R"({"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]})", 0,
      "dtype \"F8_E4M3\" is not supported; convert it to one of F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL");
  ExpectEntryRejected(R"({"dtype":"f32","shape":[0],"data_offsets":[0,0]})", 0, "dtype \"f32\" is not supported");
}

TEST(SafetensorsRead, RejectsNegativeAndOverflowingShapes) {
  const auto shaped = [](const std::string& shape) {
    return R"({"dtype":"F32","data_offsets":[0,4],"shape":)" + shape + "}";
  };
  ExpectEntryRejected(shaped("[-1]"), 4, "shape must hold whole numbers from 0 up, not a negative number");
  ExpectEntryRejected(shaped("[1,-0]"), 4, "shape must hold whole numbers from 0 up, not a negative number");
  ExpectEntryRejected(shaped("[18446744073709551616]"), 4,
                      "shape must hold whole numbers from 0 up, not a number that");
  for (const char* shape : {"[9223372036854775808]",        // beyond int64 by itself
                            "[2305843009213693952]",        // beyond int64 when multiplied by 4 bytes
                            "[4294967296,4294967297]",      // wraps around to one element
                            "[9223372036854775807,3,5,7]",  // wraps around more than once
                            "[0,4294967296,4294967296]",    // empty, but with strides beyond int64
                            "[4294967296,4294967296,0]"}) {
    ExpectEntryRejected(shaped(shape), 4, "shape is too large");
  }
  std::string ones = "[1";
  for (int i = 1; i < 32; ++i) ones += ",1";
  EXPECT_EQ(Parse(File("{\"a\":" + shaped(ones + "]") + "}", "1234")).tensors.at("a").dim(), 32);
  ExpectEntryRejected(shaped(ones + ",1]"), 4, "shape has more than 32 numbers");
}

TEST(SafetensorsRead, RejectsRangesThatDoNotFit) {
  const auto placed = [](const std::string& offsets) {
    return R"({"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}";
  };
  ExpectEntryRejected(placed("[8,0]"), 8, "data_offsets [8, 0] end before they begin");
  ExpectEntryRejected(placed("[0,8]"), 7,
                      "data_offsets [0, 8] lie outside the data of 7 bytes; the file is truncated: copy it again");
  ExpectEntryRejected(placed("[18446744073709551608,18446744073709551615]"), 8,
                      "data_offsets [18446744073709551608, 18446744073709551615] lie outside the data of 8 bytes");
  ExpectEntryRejected(placed("[-8,0]"), 8, "data_offsets must hold whole numbers from 0 up, not a negative number");
  ExpectEntryRejected(placed("[0,4]"), 8, "data_offsets [0, 4] are 4 bytes, but dtype and shape need 8");
}

TEST(SafetensorsRead, RejectsOverlapsHolesAndTrailingBytes) {
  const auto two = [](const std::string& a, const std::string& b, size_t data) {
    const std::string head = R"({"dtype":"U8",)";
    return File("{\"a\":" + head + a + "},\"b\":" + head + b + "}}", std::string(data, '\0'));
  };
  const std::string first = R"("shape":[4],"data_offsets":[0,4])";
  EXPECT_EQ(Parse(two(first, R"("shape":[4],"data_offsets":[4,8])", 8)).tensors.size(), 2u);
  ExpectRejected(two(first, R"("shape":[4],"data_offsets":[3,7])", 7),
                 "tensor \"b\": overlaps the tensor before it (begins at 3, expected 4)");
  ExpectRejected(two(first, R"("shape":[4],"data_offsets":[0,4])", 4), "tensor \"b\": overlaps the tensor before it");
  ExpectRejected(two(first, R"("shape":[0],"data_offsets":[2,2])", 4), "tensor \"b\": overlaps the tensor before it");
  ExpectRejected(two(first, R"("shape":[4],"data_offsets":[5,9])", 9),
                 "tensor \"b\": a hole lies before it (begins at 5, expected 4)");
  ExpectRejected(two(first, R"("shape":[4],"data_offsets":[4,8])", 10), "2 trailing bytes belong to no tensor");
  ExpectRejected(File("{}", "x"), "1 trailing bytes belong to no tensor");
}

TEST(SafetensorsRead, RejectsBoolsOtherThan0And1) {
  const std::string json = R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  ExpectSame(Parse(File(json, std::string("\0\1\0", 3))).tensors.at("a"),
             at::tensor({0, 1, 0}, at::kByte).to(at::kBool));
  ExpectRejected(File(json, std::string("\0\1\2", 3)), "tensor \"a\": BOOL element 2 is 2, neither 0 nor 1");
}

TEST(SafetensorsRead, ErrorsShortenLongNames) {
  const std::string name(100'000, 'n');
  ExpectRejected(File("{\"" + name + "\":{}}"), "tensor \"" + std::string(80, 'n') + "...\": lacks dtype");
}

std::string WriteFailure(const std::string& path, const Tensors& tensors, const Metadata& metadata = {}) {
  try {
    WriteSafetensors(path, tensors, metadata);
  } catch (const SafetensorsError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(SafetensorsWrite, BytesDependOnNothingButTheContents) {
  const TemporaryDirectory directory;
  const at::Tensor x = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({2, 2});
  WriteSafetensors(directory / "a", {{"z", x}, {"a", at::tensor({7}, at::kByte)}, {"b", x.select(0, 1)}},
                   {{"y", "2"}, {"x", "1"}});
  const float values[] = {3, 4, 1, 2, 3, 4};
  std::string json =
      R"({"__metadata__":{"x":"1","y":"2"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("z":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]},"a":{"dtype":"U8","shape":[1],"data_offsets":[24,25]}})";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(ReadBytes(directory / "a"),
            File(json, std::string(reinterpret_cast<const char*>(values), sizeof(values)) + '\7'));
}

TEST(SafetensorsWrite, EveryTensorIsAligned) {
  const TemporaryDirectory directory;
  for (size_t length = 0; length < 16; ++length) {
    Tensors tensors = OfAllDtypes();
    tensors[std::string(length, 'n')] = at::ones({3}, at::kByte);
    WriteSafetensors(directory / "a", tensors);
    const std::string bytes = ReadBytes(directory / "a");
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    ASSERT_EQ(header % 8, 0u);
    // Wider elements come before narrower ones, so that each tensor begins at a multiple of its element width.
    const std::string json = bytes.substr(8, header);
    const std::vector<std::string> by_width = {"Double", "Float", "Short", "Byte"};
    for (size_t i = 1; i < by_width.size(); ++i) {
      EXPECT_LT(json.find("\"" + by_width[i - 1] + "\":"), json.find("\"" + by_width[i] + "\":"));
    }
  }
}

TEST(SafetensorsWrite, RefusesWhatTheFormatCannotHold) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  const at::Tensor x = at::ones({2});
  EXPECT_EQ(WriteFailure(path, {{"x", at::ones({2}, at::kComplexFloat)}}),
            path +
                ": tensor \"x\": dtype ComplexFloat cannot be written; convert it to one of F64 F32 F16 BF16 I64 I32 "
                "I16 I8 U8 BOOL");
  EXPECT_EQ(WriteFailure(path, {{"__metadata__", x}}),
            path + ": tensor \"__metadata__\": this name is the format's own; choose another");
  const std::string plain =
      path + ": tensor \"x\": only plain tensors can be written; make it one, with .to_dense() or .dequantize()";
  EXPECT_EQ(WriteFailure(path, {{"x", at::Tensor()}}), plain);
  EXPECT_EQ(WriteFailure(path, {{"x", x.to_sparse()}}), plain);
  EXPECT_EQ(WriteFailure(path, {{"x", x.to(at::kMeta)}}), plain);
  EXPECT_EQ(WriteFailure(path, {{"x", at::ones(std::vector<int64_t>(33, 1))}}),
            path + ": tensor \"x\": has more than 32 dimensions; flatten some");
  EXPECT_EQ(WriteFailure(path, {{"\xff", x}}), path + ": \"\\ufffd\" is not UTF-8; names and metadata must be");
  EXPECT_EQ(WriteFailure(path, {}, {{"k", "\xff"}}), path + ": \"\\ufffd\" is not UTF-8; names and metadata must be");
  const std::string long_text(8'000'000, 'v');
  Metadata long_metadata;
  for (int i = 0; i < 13; ++i) long_metadata[std::to_string(i)] = long_text;
  EXPECT_EQ(WriteFailure(path, {}, long_metadata),
            path + ": names and metadata take 104000112 bytes, more than the format's 100000000; shorten them");
  EXPECT_EQ(WriteFailure(path, {{"x", at::tensor({1, 2}, at::kByte).view(at::kBool)}}),
            path + ": tensor \"x\": BOOL element 1 is 2, neither 0 nor 1; store it as U8 or export it again");
  EXPECT_EQ(directory.Names(), Names{});
}

TEST(SafetensorsWrite, MissingDirectoryIsAClearError) {
  const TemporaryDirectory directory;
  const std::string path = directory / "none/a";
  EXPECT_EQ(WriteFailure(path, {{"x", at::ones({2})}}),
            path + ": cannot create a file beside it: No such file or directory; create its directory first");
  EXPECT_EQ(directory.Names(), Names{});
}

TEST(SafetensorsWrite, FullDiskLeavesTheOldFileAndNothingElse) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  WriteSafetensors(path, {{"x", at::ones({2})}});
  const std::string before = ReadBytes(path);
  std::string failure;
  {
    const FileSizeLimit limit(4096);
    failure = WriteFailure(path, {{"x", at::zeros({2000})}});
  }
  EXPECT_EQ(failure, path + ": cannot write: File too large; make room or write to another disk");
  EXPECT_EQ(ReadBytes(path), before);
  EXPECT_EQ(directory.Names(), Names{"a"});
}

}  // namespace
}  // namespace tra
