// Converts structs whose fields are all doubles to lists of numbers, which can be summed and sent, and back.
#ifndef TRA_BASE_FIELDS_H_
#define TRA_BASE_FIELDS_H_

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tra {

template <typename Fields>
constexpr size_t CountFields() {
  static_assert(std::is_trivially_copyable_v<Fields> && sizeof(Fields) % sizeof(double) == 0, "doubles only");
  return sizeof(Fields) / sizeof(double);
}

template <typename Fields>
void AppendFields(const Fields& fields, std::vector<double>& values) {
  values.resize(values.size() + CountFields<Fields>());
  std::memcpy(values.data() + values.size() - CountFields<Fields>(), &fields, sizeof(Fields));
}

// Reads the struct that begins at values[first].
template <typename Fields>
void ReadFields(const std::vector<double>& values, size_t first, Fields& fields) {
  static_cast<void>(values.at(first + CountFields<Fields>() - 1));
  std::memcpy(static_cast<void*>(&fields), values.data() + first, sizeof(Fields));
}

// Adds each field of one struct to the same field of another.
template <typename Fields>
void AddFields(const Fields& from, Fields& to) {
  std::vector<double> values, sums;
  AppendFields(from, values);
  AppendFields(to, sums);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  ReadFields(sums, 0, to);
}

}  // namespace tra

#endif  // TRA_BASE_FIELDS_H_
