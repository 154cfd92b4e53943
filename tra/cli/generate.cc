// tra generate: continues a prompt with a model.
#include "tra/model/generate.h"

#include <ATen/ATen.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/input.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/text_options.h"
#include "tra/cli/whole_number.h"
#include "tra/run/loaded_run.h"
#include "tra/run/vocabulary.h"

namespace tra::cli {
namespace {

constexpr int64_t kTokens = 100;

struct Request {
  std::string run, prompt, prompt_file, ids, device;
  TokenizerChoice tokenizer{"", ""};  // empty: the run's
  std::optional<int64_t> tokens;
  Sampling sampling;
  int64_t count = 1;
  bool json = false;
  int threads = 0;
};

// Turns the tokens of a sequence into words, one after the other, with separators between them.
class Words {
 public:
  explicit Words(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  std::string Next(int32_t token) {
    std::string word = (first_ ? "" : vocabulary_.Separator()) + vocabulary_.Word(token);
    first_ = false;
    return word;
  }
  std::string All(const std::vector<int32_t>& tokens) {
    std::string text;
    for (const int32_t token : tokens) text += Next(token);
    return text;
  }

 private:
  const Vocabulary& vocabulary_;
  bool first_ = true;
};

std::vector<int32_t> ReadPrompt(const Request& request, const Vocabulary& vocabulary, int64_t size) {
  std::vector<int32_t> prompt;
  if (!request.ids.empty()) {
    prompt = ParseIds(Argument("--ids", request.ids));
  } else {
    prompt = vocabulary.Read(request.prompt_file.empty() ? request.prompt : ReadInput(request.prompt_file).text);
  }
  if (prompt.empty()) throw std::invalid_argument("the prompt is empty; begin with --prompt, --prompt-file or --ids");
  CheckIds(prompt, size);
  return prompt;
}

// Returns how many tokens to generate: by default no more than fit. Throws if more were asked for than fit.
int64_t NewTokens(const Request& request, int64_t prompt, const ModelConfig& config) {
  const int64_t wanted = request.tokens.value_or(kTokens);
  const std::optional<int64_t> longest = LongestSequence(config);
  if (!longest || prompt + wanted <= *longest) return wanted;
  if (request.tokens || prompt >= *longest) {
    throw std::invalid_argument("the prompt has " + std::to_string(prompt) + " tokens and " + std::to_string(wanted) +
                                " more are wanted, but this " + config.attention + " model has positions for " +
                                std::to_string(*longest) + "; ask for fewer with --tokens or shorten the prompt");
  }
  return *longest - prompt;
}

// Returns the new tokens of each row, up to the token that ends it.
std::vector<std::vector<int32_t>> NewRows(const at::Tensor& tokens, int64_t prompt, const GenerateOptions& options) {
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(tokens.size(0)));
  const auto all = tokens.accessor<int64_t, 2>();
  for (int64_t row = 0; row < tokens.size(0); ++row) {
    for (int64_t at = prompt; at < tokens.size(1); ++at) {
      rows[static_cast<size_t>(row)].push_back(static_cast<int32_t>(all[row][at]));
      if (all[row][at] == options.stop_token) break;
    }
  }
  return rows;
}

void RunGenerate(const Request& request) {
  const int prompts =
      (request.prompt.empty() ? 0 : 1) + (request.prompt_file.empty() ? 0 : 1) + (request.ids.empty() ? 0 : 1);
  if (prompts > 1) throw std::invalid_argument("give one of --prompt, --prompt-file and --ids");
  CheckSampling(request.sampling);
  if (request.count > 1 && request.sampling.temperature == 0.0) {
    throw std::invalid_argument("without a temperature all continuations are the same; add --temperature 1");
  }
  SetUpComputing(request.threads);
  const LoadedModel loaded = LoadRunOrFile(request.run, UseDevice(request.device), PrintWarning);
  const std::unique_ptr<Vocabulary> vocabulary = MakeVocabulary(loaded, request.tokenizer);
  const std::vector<int32_t> prompt = ReadPrompt(request, *vocabulary, loaded.model->config.vocabulary);
  const auto length = static_cast<int64_t>(prompt.size());

  GenerateOptions options;
  options.new_tokens = NewTokens(request, length, loaded.model->config);
  options.sampling = request.sampling;
  options.stop_token = vocabulary->End();
  Output out("");
  Words streamed(*vocabulary);
  const bool stream = request.count == 1 && !request.json;
  if (stream) {
    options.on_step = [&](const at::Tensor& token) {
      out.Write(streamed.Next(static_cast<int32_t>(token.item<int64_t>())));
      out.Flush();
      return true;
    };
  }
  const at::Tensor tokens = at::tensor(prompt, at::kInt).to(at::kLong).expand({request.count, length});
  const auto rows = NewRows(Generate(*loaded.model, tokens, options), length, options);

  if (request.json) {
    nlohmann::ordered_json result = {{"attention", loaded.model->config.attention}, {"prompt", prompt}};
    for (const std::vector<int32_t>& row : rows) {
      const bool ended = !row.empty() && row.back() == options.stop_token;
      result["continuations"].push_back({{"text", Words(*vocabulary).All(row)}, {"ids", row}, {"ended", ended}});
    }
    // Tokens of text may end within a character.
    out.Line(result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) out.Line("---");
      out.Line(stream ? "" : Words(*vocabulary).All(rows[i]));
    }
  }
  out.Finish();
}

}  // namespace

void AddGenerate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Continue a prompt with the model of a run");
  auto request = std::make_shared<Request>();
  Sampling& sampling = request->sampling;
  command->add_option("run", request->run, "folder of a run, or a file such as model.safetensors")->required();
  command->add_option("--prompt", request->prompt, "text, or a task's symbols: \"BOS 3 1 4 SEP\", w1i0r");
  command->add_option("--prompt-file", request->prompt_file, "file with the prompt; - for standard input");
  command->add_option("--ids", request->ids, "the prompt as JSON: [1,7,5,2]");
  command
      ->add_option(
          "--tokens", request->tokens,
          "most tokens to add; by default " + std::to_string(kTokens) + ", or as many as the model has positions for")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--temperature", sampling.temperature,
                   "0 takes the likeliest token; 1 draws from the model's own probabilities")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "draw among the k likeliest; 0: all")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "draw among the likeliest that reach this probability")
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "seed of the draws")
      ->check(WholeNumber(0, kAnySeed))
      ->capture_default_str();
  command->add_option("--count", request->count, "number of continuations")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  AddTokenizerOptions(*command, request->tokenizer);
  command->add_flag("--json", request->json, "print ids and text as JSON, for programs");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Example: tra generate runs/copy-tra-s1 --prompt \"BOS 3 1 4 SEP\"\n"
      "Only the continuation is printed; it ends at EOS or at the end of the text, if the vocabulary has one.");
  command->callback([request] { RunGenerate(*request); });
}

}  // namespace tra::cli
