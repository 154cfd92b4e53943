// The examples that a model is trained and scored on.
#ifndef TRA_TASKS_EXAMPLE_H_
#define TRA_TASKS_EXAMPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace tra {

constexpr int32_t kPad = 0;  // the padding token of every task

struct Example {
  std::vector<int32_t> tokens;
  std::vector<uint8_t> supervised;  // 1 where the token is an answer, to be predicted from the tokens before it
  int32_t group = 0;                // index into Kind::groups, if the task has groups

  void Add(int32_t token, bool answer = false) {
    tokens.push_back(token);
    supervised.push_back(answer ? 1 : 0);
  }
};

// Gives examples by number. Several threads may read from one source.
class ExampleSource {
 public:
  virtual ~ExampleSource() = default;
  virtual Example At(uint64_t index) const = 0;
  virtual std::optional<uint64_t> Size() const { return std::nullopt; }  // nothing: unlimited
};

}  // namespace tra

#endif  // TRA_TASKS_EXAMPLE_H_
