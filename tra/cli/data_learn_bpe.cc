// tra data learn-bpe: learns a vocabulary of a chosen size, so that a small model does not consist mostly of its
// embedding.
#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "tra/base/mapped_file.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/whole_number.h"
#include "tra/text/bpe_model.h"
#include "tra/text/bpe_train.h"
#include "tra/text/corpus.h"
#include "tra/text/text_check.h"

namespace tra::cli {
namespace {

struct Request {
  std::string corpus, split = "train", out;
  int64_t vocabulary = 4096;
  size_t threads = 0;
};

void Learn(const Request& request) {
  const Corpus corpus = FindCorpus(request.corpus);
  if (!corpus.division.empty()) PrintWarning(corpus.division);
  const TextSource& text = corpus.Text(request.split);
  const MappedFile file(text.path);
  if (const auto fault = FindTextFault(file.Bytes())) ThrowTextFault(text.path, file.Bytes(), *fault);
  const BpeModel model = TrainBpe(PartOf(file.Bytes(), text), request.vocabulary, request.threads);
  WriteBpe(model, request.out);
  Output out("");
  out.Line("learnt " + std::to_string(model.merges.size()) + " merges from " + text.path + ": " +
           std::to_string(model.tokens.size()) + " tokens, written to " + request.out);
  out.Line("use them with --tokenizer bpe --files " + request.out);
  out.Finish();
}

}  // namespace

void AddDataLearnBpe(CLI::App& data) {
  CLI::App* command = data.add_subcommand("learn-bpe", "Learn a byte-level BPE of a chosen size from a corpus");
  auto request = std::make_shared<Request>();
  command->add_option("corpus", request->corpus, "folder with texts, or one text, as for tra data prepare")->required();
  command->add_option("--split", request->split, "text to learn from")->capture_default_str();
  command->add_option("--vocabulary", request->vocabulary, "tokens: 256 bytes, merges, end of text")
      ->check(WholeNumber(257, INT32_MAX))
      ->capture_default_str();
  command->add_option("--out", request->out, "folder to write encoder.json and vocab.bpe to")->required();
  command->add_option("--threads", request->threads, "threads to learn with; all cores by default")
      ->check(CLI::Range(1, 4096));
  command->footer("Example: tra data learn-bpe wikitext-2 --vocabulary 4096 --out bpe4096");
  command->callback([request] { Learn(*request); });
}

}  // namespace tra::cli
