// tra logits: prints what a model computes, as numbers to check other implementations against.
#include <ATen/ATen.h>

#include <CLI/App.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/input.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/run/loaded_run.h"

namespace tra::cli {
namespace {

struct Request {
  std::string run, ids, device;
  bool last = false;
  int threads = 0;
};

// Checks the ids and returns them as int64 [B,T].
at::Tensor Tokens(const IdRows& ids, const ModelConfig& config) {
  const size_t length = ids.rows[0].size();
  if (length == 0) throw std::invalid_argument("there are no ids; give at least one, such as --ids \"[1]\"");
  const std::optional<int64_t> longest = LongestSequence(config);
  if (longest && static_cast<int64_t>(length) > *longest) {
    throw std::invalid_argument("there are " + std::to_string(length) + " ids, but this " + config.attention +
                                " model has positions for " + std::to_string(*longest));
  }
  std::vector<int64_t> all;
  for (const std::vector<int32_t>& row : ids.rows) {
    CheckIds(row, config.vocabulary);
    all.insert(all.end(), row.begin(), row.end());
  }
  const auto rows = static_cast<int64_t>(ids.rows.size());
  return at::tensor(all, at::kLong).view({rows, static_cast<int64_t>(length)});
}

// Writes nested arrays, the last dimension innermost.
void WriteArray(const at::Tensor& values, Output& out) {
  out.Write("[");
  for (int64_t i = 0; i < values.size(0); ++i) {
    if (i > 0) out.Write(",");
    if (values.dim() > 1) {
      WriteArray(values[i], out);
      continue;
    }
    const float value = values.data_ptr<float>()[i];
    if (!std::isfinite(value)) {  // JSON has no such number
      throw std::runtime_error("the logit of token " + std::to_string(i) + " is " + std::to_string(value) +
                               " at some position; the weights are damaged or training diverged");
    }
    char text[32];  // nine digits tell every float32 from its neighbours, also when read as a double first
    out.Write({text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value)))});
  }
  out.Write("]");
}

void RunLogits(const Request& request) {
  const IdRows ids = ParseIdRows(request.ids.empty() ? ReadInput("-") : Argument("--ids", request.ids));
  SetUpComputing(request.threads);
  const LoadedModel loaded = LoadRunOrFile(request.run, UseDevice(request.device), PrintWarning);
  const ModelConfig& config = loaded.model->config;
  const c10::NoGradGuard no_grad;
  at::Tensor logits =
      loaded.model->Logits(Tokens(ids, config).to(loaded.model->Device())).cpu().contiguous();  // [B,T,V]
  if (request.last) logits = logits.select(1, logits.size(1) - 1);
  if (!ids.nested) logits = logits[0];
  Output out("");
  out.Write("{\"attention\":" + nlohmann::json(config.attention).dump() +
            ",\"vocabulary\":" + std::to_string(config.vocabulary) + ",\"logits\":");
  WriteArray(logits, out);
  out.Line("}");
  out.Finish();
}

}  // namespace

void AddLogits(CLI::App& app) {
  CLI::App* command = app.add_subcommand("logits", "Print the logits of a model at every position, as JSON");
  auto request = std::make_shared<Request>();
  command->add_option("run", request->run, "folder of a run, or a file such as model.safetensors")->required();
  command->add_option("--ids", request->ids,
                      "tokens as JSON: [1,4,5], or [[1,4],[1,5]] for several sequences; standard input by default");
  command->add_flag("--last", request->last, "only the logits at the last position");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Example: tra logits runs/copy-tra-s1 --ids \"[1,7,5,2]\"\n"
      "Logits are [position][token]; for several sequences, [sequence][position][token].");
  command->callback([request] { RunLogits(*request); });
}

}  // namespace tra::cli
