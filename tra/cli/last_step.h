// Reads how far a run is, while another process trains it.
#ifndef TRA_CLI_LAST_STEP_H_
#define TRA_CLI_LAST_STEP_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tra::cli {

// Follows the metrics.jsonl of a run. Its end is read again only when the file has changed.
class LastStep {
 public:
  // Returns "step 250/2000, loss 0.1234, 3:20 left, exact match: iid 99.50%", as far as it is known. The time left is
  // judged by the lines written since `began`, in seconds since 1970, because there was a pause between those of an
  // earlier attempt and these; a run that is not being trained has none.
  std::string Text(const std::string& run, int64_t steps, std::optional<double> began);

 private:
  void Read(const std::string& path, int64_t size, std::optional<double> began);

  int64_t size_ = -1;                                // of what was read
  int64_t step_ = -1;                                // -1: there is none yet
  double loss_ = 0, at_ = 0, seconds_per_step_ = 0;  // at_: when the step was taken; 0 seconds: not known
  std::string scores_;
};

}  // namespace tra::cli

#endif  // TRA_CLI_LAST_STEP_H_
