// tra data prepare: turns the texts of a corpus into ids, before anything trains on them.
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/text_options.h"
#include "tra/text/token_cache.h"

namespace tra::cli {
namespace {

void Prepare(const CorpusChoice& choice, bool json) {
  const std::unique_ptr<Tokenizer> tokenizer = choice.tokenizer.Make();
  const Corpus corpus = choice.Find();
  nlohmann::ordered_json all = {{"tokenizer", tokenizer->Name()},
                                {"vocabulary", tokenizer->Vocabulary()},
                                {"checksum", tokenizer->Checksum()},
                                {"splits", nlohmann::ordered_json::object()}};
  Output out("");
  if (!json) {
    out.Line("tokenizer " + tokenizer->Name() + ", vocabulary " + std::to_string(tokenizer->Vocabulary()));
    out.Line("split        bytes       tokens        words      lines  tokens/word  bytes/token");
  }
  for (const auto& [split, text] : corpus.texts) {
    const TokenFileInfo info = choice.Open(text, *tokenizer).Info();
    all["splits"][split] = {
        {"file", text.path},     {"bytes", info.text_bytes},
        {"tokens", info.tokens}, {"words", info.words},
        {"lines", info.lines},   {"cache", TokenCachePath(text, *tokenizer, choice.CacheDirectory())}};
    char line[128];
    std::snprintf(line, sizeof(line), "%-6s %11lld  %11lld  %11lld  %9lld  %11.3f  %11.3f", split.c_str(),
                  static_cast<long long>(info.text_bytes), static_cast<long long>(info.tokens),
                  static_cast<long long>(info.words), static_cast<long long>(info.lines),
                  static_cast<double>(info.tokens) / static_cast<double>(info.words),
                  static_cast<double>(info.text_bytes) / static_cast<double>(info.tokens));
    if (!json) out.Line(line);
  }
  out.Line(json ? all.dump(2) : "kept in " + choice.CacheDirectory());
  out.Finish();
}

}  // namespace

void AddDataPrepare(CLI::App& data) {
  CLI::App* command = data.add_subcommand("prepare", "Tokenise the texts of a corpus once, and count them");
  auto choice = std::make_shared<CorpusChoice>();
  auto json = std::make_shared<bool>(false);
  AddCorpusOptions(*command, *choice);
  command->add_flag("--json", *json, "print JSON, for programs");
  command->footer("Example: tra data prepare wikitext-103 --tokenizer gpt2 --files gpt2");
  command->callback([choice, json] { Prepare(*choice, *json); });
}

}  // namespace tra::cli
