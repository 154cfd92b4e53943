// tra data window: prints a stretch of text as a model sees it.
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/text_options.h"
#include "tra/cli/whole_number.h"
#include "tra/text/windows.h"

namespace tra::cli {
namespace {

struct Request {
  CorpusChoice corpus;
  std::string split = "train";
  int64_t length = 128, index = 0, stride = 0;
  uint64_t seed = 0;
  std::string color = "auto";
};

// Makes control characters visible.
std::string Visible(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char code[8];
    std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(c));
    text += c == '\n' ? "\\n" : static_cast<unsigned char>(c) < 0x20 ? code : std::string(1, c);
  }
  return text;
}

void ShowWindow(const Request& request) {
  const std::unique_ptr<Tokenizer> tokenizer = request.corpus.tokenizer.Make();
  const TokenFile tokens = request.corpus.Open(request.corpus.Find().Text(request.split), *tokenizer);
  EvalWindow window{};
  std::string which;
  if (request.stride > 0) {
    window = GetEvalWindow(tokens.Size(), request.length, request.stride, request.index);
    which = "evaluation window " + std::to_string(request.index) + " of " +
            std::to_string(EvalWindowCount(tokens.Size(), request.length, request.stride)) + ", stride " +
            std::to_string(request.stride) + ", scored from target " + std::to_string(window.first_scored);
  } else {
    window = {TrainWindow(tokens.Size(), request.length, request.seed, request.index), request.length, 0};
    which = "training window " + std::to_string(request.index) + ", seed " + std::to_string(request.seed) + ", " +
            std::to_string(TrainWindowsPerEpoch(tokens.Size(), request.length)) + " per epoch";
  }
  std::vector<int64_t> ids(static_cast<size_t>(window.length + 1));
  tokens.Read(window.begin, window.length + 1, ids.data());
  Output out("");
  out.Line(request.split + ", " + tokenizer->Name() + ": " + which);
  out.Line("tokens " + std::to_string(window.begin) + ".." + std::to_string(window.begin + window.length) + " of " +
           std::to_string(tokens.Size()) + "; the last is only a target");
  out.Line("");
  const bool color = UseColor(request.color);
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string token = Visible(tokenizer->Bytes(static_cast<int32_t>(ids[i])));
    if (color) {
      text += (i % 2 == 0 ? "\033[44m" : "\033[42m") + token + "\033[0m";
    } else {
      text += (i == 0 ? "" : "|") + token;
    }
  }
  out.Line(text);
  out.Finish();
}

}  // namespace

void AddDataWindow(CLI::App& data) {
  CLI::App* command = data.add_subcommand("window", "Show a window of a corpus, token by token, as a model sees it");
  auto request = std::make_shared<Request>();
  AddCorpusOptions(*command, request->corpus);
  command->add_option("--split", request->split, "train, valid or test")->capture_default_str();
  command->add_option("--length", request->length, "tokens per window")
      ->check(WholeNumber(1, kMostIndex))
      ->capture_default_str();
  command->add_option("--index", request->index, "number of the window")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command->add_option("--seed", request->seed, "seed of the order of training windows")
      ->check(WholeNumber(0, kAnySeed))
      ->capture_default_str();
  command->add_option("--stride", request->stride, "show an evaluation window; windows begin this many tokens apart")
      ->check(WholeNumber(1, kMostIndex));
  AddColorOption(*command, request->color);
  command->footer("Example: tra data window wikitext-2 --split valid --length 64 --stride 32 --index 1");
  command->callback([request] { ShowWindow(*request); });
}

}  // namespace tra::cli
