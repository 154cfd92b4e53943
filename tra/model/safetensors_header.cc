#include "tra/model/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "tra/model/safetensors.h"

namespace tra {
namespace {

using Json = nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
constexpr char kExportAgain[] = "; the file is damaged or malformed: copy it or export it again";

constexpr std::pair<at::ScalarType, const char*> kDtypes[] = {
    {at::kDouble, "F64"}, {at::kFloat, "F32"}, {at::kHalf, "F16"}, {at::kBFloat16, "BF16"}, {at::kLong, "I64"},
    {at::kInt, "I32"},    {at::kShort, "I16"}, {at::kChar, "I8"},  {at::kByte, "U8"},       {at::kBool, "BOOL"}};

std::string QuoteForMessage(const std::string& name) {
  constexpr size_t kLongest = 80;
  const std::string shown = name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
  return Json(shown).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string DtypeNames() {
  std::string all;
  for (const auto& [type, name] : kDtypes) all += (all.empty() ? "" : " ") + std::string(name);
  return all;
}

// Receives the events of the JSON parser, which does not recurse: nesting that the format does not have ends the parse
// where it begins. A document tree would hide duplicate names.
class HeaderReader {
 public:
  HeaderReader(std::string file, SafetensorsHeader& header) : file_(std::move(file)), header_(header) {}

  bool start_object(size_t) {
    if (level_ == Level::kOutside) {
      level_ = Level::kNames;
    } else if (level_ == Level::kNames && name_ == kMetadata) {
      level_ = Level::kMetadata;
    } else if (level_ == Level::kNames) {
      level_ = Level::kEntry;
      header_.tensors.push_back({name_, {}, {}, 0, 0});
      fields_.clear();
    } else {
      Unexpected("an object");
    }
    return true;
  }

  bool key(std::string& text) {
    if (level_ == Level::kNames) {
      name_ = text;
      if (!names_.insert(text).second) Fail(QuoteForMessage(text) + " appears twice");
    } else if (level_ == Level::kMetadata) {
      key_ = text;
      if (header_.metadata.count(text) > 0) Fail("metadata " + QuoteForMessage(text) + " appears twice");
    } else {
      key_ = text;
      if (text != "dtype" && text != "shape" && text != "data_offsets") {
        FailTensor("has an unknown field " + QuoteForMessage(text));
      }
      if (!fields_.insert(text).second) FailTensor(text + " appears twice");
    }
    return true;
  }

  bool end_object() {
    if (level_ == Level::kEntry) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (fields_.count(field) == 0) FailTensor(std::string("lacks ") + field);
      }
    }
    level_ = level_ == Level::kNames ? Level::kOutside : Level::kNames;
    return true;
  }

  bool start_array(size_t) {
    if (level_ != Level::kEntry || key_ == "dtype") Unexpected("an array");
    level_ = Level::kArray;
    numbers_.clear();
    return true;
  }

  bool end_array() {
    level_ = Level::kEntry;
    if (key_ == "shape") {
      for (const uint64_t n : numbers_) {
        if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) FailTensor("shape is too large");
        header_.tensors.back().shape.push_back(static_cast<int64_t>(n));
      }
    } else {
      if (numbers_.size() != 2) FailTensor("data_offsets must be two numbers, [begin, end]");
      header_.tensors.back().begin = numbers_[0];
      header_.tensors.back().end = numbers_[1];
    }
    return true;
  }

  bool string(std::string& text) {
    if (level_ == Level::kMetadata) {
      header_.metadata.emplace(key_, text);
    } else if (level_ == Level::kEntry && key_ == "dtype") {
      const auto* known =
          std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const auto& dtype) { return dtype.second == text; });
      if (known == std::end(kDtypes)) {
        throw SafetensorsError(AboutTensor(file_, name_) + "dtype " + QuoteForMessage(text) +
                               " is not supported; convert it to one of " + DtypeNames());
      }
      header_.tensors.back().dtype = known->first;
    } else {
      Unexpected("a string");
    }
    return true;
  }

  bool number_unsigned(uint64_t value) {
    if (level_ != Level::kArray) Unexpected("a number");
    if (numbers_.size() == kMaxSafetensorsDims) {
      FailTensor(key_ + " has more than " + std::to_string(kMaxSafetensorsDims) + " numbers");
    }
    numbers_.push_back(value);
    return true;
  }
  // Called only for numbers with a minus sign.
  bool number_integer(int64_t) { return Unexpected("a negative number"); }
  // Called also for integers beyond 64 bits.
  bool number_float(double, const std::string&) { return Unexpected("a number that is fractional or too large"); }
  bool boolean(bool) { return Unexpected("true or false"); }
  bool null() { return Unexpected("null"); }
  bool binary(Json::binary_t&) { return Unexpected("binary data"); }

  bool parse_error(size_t position, const std::string&, const Json::exception&) {
    // Does not pass on the parser's own message, which repeats the last token, and that can be as long as the header.
    Fail("header is not JSON in UTF-8 (at its byte " + std::to_string(position) + ")");
  }

 private:
  enum class Level { kOutside, kNames, kMetadata, kEntry, kArray };

  [[noreturn]] void Fail(const std::string& what) const { throw SafetensorsError(file_ + ": " + what + kExportAgain); }
  [[noreturn]] void FailTensor(const std::string& what) const {
    throw SafetensorsError(AboutTensor(file_, name_) + what + kExportAgain);
  }

  // Declared to return bool only so that callers can return its result.
  [[noreturn]] bool Unexpected(const std::string& what) const {
    switch (level_) {
      case Level::kOutside:
        Fail("header must be a JSON object, not " + what);
      case Level::kNames:
        Fail(QuoteForMessage(name_) + " must be an object, not " + what);
      case Level::kMetadata:
        Fail("metadata " + QuoteForMessage(key_) + " must be a string, not " + what);
      case Level::kEntry:
        FailTensor(key_ + " must be " + (key_ == "dtype" ? "a string" : "an array") + ", not " + what);
      case Level::kArray:
        break;
    }
    FailTensor(key_ + " must hold whole numbers from 0 up, not " + what);
  }

  const std::string file_;
  SafetensorsHeader& header_;
  Level level_ = Level::kOutside;
  std::string name_, key_;
  std::set<std::string> names_, fields_;
  std::vector<uint64_t> numbers_;
};

// Computes the bytes of a tensor. Returns false if they, or any stride, do not fit into 63 bits. A size of 0 does not
// excuse the other sizes, because strides are products of the rest.
bool SizeOf(const TensorEntry& entry, uint64_t& bytes) {
  uint64_t product = c10::elementSize(entry.dtype);
  bool empty = false;
  for (const int64_t n : entry.shape) {
    if (n == 0) empty = true;
    const uint64_t size = std::max<int64_t>(n, 1);
    if (product > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / size) return false;
    product *= size;
  }
  bytes = empty ? 0 : product;
  return true;
}

void CheckEntry(const TensorEntry& entry, uint64_t data_size, const std::string& file) {
  const auto fail = [&](const std::string& what, const char* remedy) {
    throw SafetensorsError(AboutTensor(file, entry.name) + what + remedy);
  };
  const std::string range = "data_offsets [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
  if (entry.end < entry.begin) fail(range + " end before they begin", kExportAgain);
  if (entry.end > data_size) {
    fail(range + " lie outside the data of " + std::to_string(data_size) + " bytes",
         "; the file is truncated: copy it again");
  }
  uint64_t bytes = 0;
  if (!SizeOf(entry, bytes)) fail("shape is too large", kExportAgain);
  if (bytes != entry.end - entry.begin) {
    fail(range + " are " + std::to_string(entry.end - entry.begin) + " bytes, but dtype and shape need " +
             std::to_string(bytes),
         kExportAgain);
  }
}

void CheckCover(const std::vector<TensorEntry>& sorted, uint64_t data_size, const std::string& file) {
  uint64_t covered = 0;
  for (const TensorEntry& entry : sorted) {
    if (entry.begin != covered) {
      throw SafetensorsError(AboutTensor(file, entry.name) +
                             (entry.begin < covered ? "overlaps the tensor before it" : "a hole lies before it") +
                             " (begins at " + std::to_string(entry.begin) + ", expected " + std::to_string(covered) +
                             ")" + kExportAgain);
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    throw SafetensorsError(file + ": " + std::to_string(data_size - covered) +
                           " trailing bytes belong to no tensor; the file has been appended to or damaged: copy it or "
                           "export it again");
  }
}

}  // namespace

SafetensorsHeader ParseSafetensorsHeader(const char* json, size_t size, uint64_t data_size, const std::string& file) {
  // The parser would skip a byte order mark, and take a NUL as the end.
  if (size == 0 || json[0] != '{' || std::memchr(json, 0, size) != nullptr) {
    throw SafetensorsError(file + ": header is not a JSON object" + kExportAgain);
  }
  SafetensorsHeader header;
  HeaderReader reader(file, header);
  Json::sax_parse(json, json + size, &reader);  // every failure throws
  for (const TensorEntry& entry : header.tensors) CheckEntry(entry, data_size, file);
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  CheckCover(header.tensors, data_size, file);
  return header;
}

std::string LayOutSafetensorsHeader(SafetensorsHeader& header, const std::string& file) {
  const auto text = [&](const std::string& s) {
    try {
      return Json(s).dump();
    } catch (const Json::type_error&) {
      throw SafetensorsError(file + ": " + QuoteForMessage(s) + " is not UTF-8; names and metadata must be");
    }
  };
  std::string json = "{";
  const auto field = [&](const std::string& name) {
    if (json.size() > 1) json += ',';
    json += text(name) + ":";
  };
  if (!header.metadata.empty()) {
    field(kMetadata);
    char before = '{';
    for (const auto& [key, value] : header.metadata) {
      json += before + text(key) + ":" + text(value);
      before = ',';
    }
    json += '}';
  }
  uint64_t offset = 0;
  for (TensorEntry& entry : header.tensors) {
    const auto fail = [&](const std::string& what) { throw SafetensorsError(AboutTensor(file, entry.name) + what); };
    if (entry.name == kMetadata) fail("this name is the format's own; choose another");
    if (entry.shape.size() > kMaxSafetensorsDims) {
      fail("has more than " + std::to_string(kMaxSafetensorsDims) + " dimensions; flatten some");
    }
    uint64_t bytes = 0;
    if (!SizeOf(entry, bytes)) fail("shape is too large; write a smaller tensor");
    entry.begin = offset;
    entry.end = offset += bytes;
    field(entry.name);
    json += "{\"dtype\":\"" + std::string(SafetensorsDtype(entry.dtype, entry.name, file)) +
            "\",\"shape\":" + Json(entry.shape).dump() + ",\"data_offsets\":[" + std::to_string(entry.begin) + "," +
            std::to_string(entry.end) + "]}";
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > kMaxSafetensorsHeader) {
    throw SafetensorsError(file + ": names and metadata take " + std::to_string(json.size()) +
                           " bytes, more than the format's " + std::to_string(kMaxSafetensorsHeader) +
                           "; shorten them");
  }
  return json;
}

const char* SafetensorsDtype(at::ScalarType dtype, const std::string& tensor, const std::string& file) {
  for (const auto& [type, name] : kDtypes) {
    if (type == dtype) return name;
  }
  throw SafetensorsError(AboutTensor(file, tensor) + "dtype " + c10::toString(dtype) +
                         " cannot be written; convert it to one of " + DtypeNames());
}

std::string AboutTensor(const std::string& file, const std::string& tensor) {
  return file + ": tensor " + QuoteForMessage(tensor) + ": ";
}

}  // namespace tra
