// tra tokenize: text to ids and back, in pipes.
#include <CLI/App.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/text_options.h"

namespace tra::cli {
namespace {

struct Request {
  TokenizerChoice tokenizer;
  bool decode = false;
};

std::vector<int32_t> ParseIds(const std::string& text) {
  const auto fail = [](const std::string& what) {
    throw std::runtime_error("standard input: " + what + "; expected a JSON array of ids, such as [15496, 995]");
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail("is not JSON");
  if (!json.is_array()) fail("is no array");
  std::vector<int32_t> ids;
  ids.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const bool fits = json[i].is_number_integer() && json[i] >= 0 && json[i] <= INT32_MAX;
    if (!fits) fail("element " + std::to_string(i) + " is " + json[i].dump());
    ids.push_back(json[i].get<int32_t>());
  }
  return ids;
}

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
  std::ios::sync_with_stdio(false);
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) throw std::runtime_error("standard input: cannot be read");
  Output out("");
  if (request.decode) {
    out.Write(tokenizer->Decode(ParseIds(input)));
  } else {
    WriteIds(tokenizer->Encode(input), out);
  }
  out.Finish();
}

}  // namespace

void AddTokenize(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Text on standard input to a JSON array of ids on standard output");
  auto request = std::make_shared<Request>();
  AddTokenizerOptions(*command, request->tokenizer);
  command->add_flag("--decode", request->decode, "the other way round: ids to text");
  command->footer("Example: echo -n 'Hello world' | tra tokenize --tokenizer gpt2 --files gpt2");
  command->callback([request] { Tokenize(*request); });
}

}  // namespace tra::cli
