// tra tokenize: turns text into ids and back, in pipes.
#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/input.h"
#include "tra/cli/output.h"
#include "tra/cli/text_options.h"

namespace tra::cli {
namespace {

struct Request {
  TokenizerChoice tokenizer;
  bool decode = false;
};

void WriteIds(const std::vector<int32_t>& ids, Output& out) {
  out.Write("[");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out.Write(",");
    out.Write(std::to_string(ids[i]));
  }
  out.Line("]");
}

void Tokenize(const Request& request) {
  const std::unique_ptr<Tokenizer> tokenizer = request.tokenizer.Make();
  const Input input = ReadInput("-");
  Output out("");
  if (request.decode) {
    out.Write(tokenizer->Decode(ParseIds(input)));
  } else {
    WriteIds(tokenizer->Encode(input.text), out);
  }
  out.Finish();
}

}  // namespace

void AddTokenize(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Turn text on standard input into a JSON array of ids on standard output");
  auto request = std::make_shared<Request>();
  AddTokenizerOptions(*command, request->tokenizer);
  command->add_flag("--decode", request->decode, "the other way round: ids to text");
  command->footer("Example: echo -n 'Hello world' | tra tokenize --tokenizer gpt2 --files gpt2");
  command->callback([request] { Tokenize(*request); });
}

}  // namespace tra::cli
