// tra bench data: how fast examples are made and text is tokenised. Uses one core, as much as training can spare for
// it.
#include <CLI/App.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "bench/options.h"
#include "bench/report.h"
#include "tra/base/mapped_file.h"
#include "tra/tasks/batch.h"
#include "tra/tasks/generated.h"
#include "tra/text/bpe_tokenizer.h"
#include "tra/text/bpe_train.h"
#include "tra/text/tokenizers.h"

namespace tra::bench {
namespace {

struct Settings {
  int rounds = 9;
  std::string corpus, gpt2, json;
};

// Returns made-up text, for runs without a corpus: random words, of which those of lower rank are more frequent.
std::string MakeText(size_t bytes) {
  Random random(1, 0, 0);
  std::vector<std::string> words(20'000);
  for (std::string& word : words) {
    for (int64_t letters = random.Between(1, 9); letters > 0; --letters) {
      word += static_cast<char>('a' + random.Below(26));
    }
  }
  std::string text;
  while (text.size() < bytes) {
    const uint32_t rank = random.Below(1 + random.Below(static_cast<uint32_t>(words.size())));
    text += words[rank] + (random.Below(12) == 0 ? ".\n" : " ");
  }
  return text;
}

template <typename Work>
double Seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Spread Rate(const Rounds& rounds, double work) {
  const Spread seconds = rounds.Seconds(0);
  return {work / seconds.median, work / seconds.high, work / seconds.low};
}

void RunTasks(const Settings& settings, Report& report) {
  report.Section("Examples, in batches of 128, million symbols a second on one core");
  for (const Task& task : Tasks()) {
    for (const Split& split : {task.splits[0], task.splits.back()}) {
      const GeneratedExamples source(task.name, split.name, 0);
      // Another batch size must give the same examples, so that what is timed is what training sees.
      constexpr uint64_t kBatches = 20;
      double symbols = 0;
      int64_t whole = 0, parted = 0;
      for (uint64_t batch = 0; batch < kBatches; ++batch) {
        const Batch made = MakeBatch(source, batch * 128, 128);
        symbols += static_cast<double>(made.symbols);
        whole += made.answers;
        for (uint64_t part = 0; part < 4; ++part) parted += MakeBatch(source, batch * 128 + part * 32, 32).answers;
      }
      if (whole != parted) throw std::runtime_error(std::string(task.name) + ": batches differ from their parts");
      const Rounds rounds({{task.name,
                            [&] {
                              for (uint64_t batch = 0; batch < kBatches; ++batch) MakeBatch(source, batch * 128, 128);
                            }}},
                          settings.rounds);
      report.Goal(Format("%-12s %-8s", task.name, split.name), Rate(rounds, symbols * 1e-6), ">=", 1.0);
    }
  }
}

void RunTokenizer(const Settings& settings, const Tokenizer& tokenizer, std::string_view text, const std::string& what,
                  Report& report) {
  std::vector<int32_t> ids;
  const double first = Seconds([&] { tokenizer.Encode(text, ids); });  // every word is new to it
  if (tokenizer.Decode(ids) != text) throw std::runtime_error(what + ": does not give the text back");
  const Rounds rounds({{what,
                        [&] {
                          ids.clear();
                          tokenizer.Encode(text, ids);
                        }}},
                      settings.rounds);
  const double megabytes = static_cast<double>(text.size()) * 1e-6;
  report.Goal(Format("%-24s %.2f bytes a token", what.c_str(),
                     static_cast<double>(text.size()) / static_cast<double>(ids.size())),
              Rate(rounds, megabytes), ">=", 5.0);
  report.Goal("  the first time", {megabytes / first, megabytes / first, megabytes / first}, ">=", 5.0);
}

void RunTokenizers(const Settings& settings, Report& report) {
  MappedFile file;
  std::string made;
  if (settings.corpus.empty()) {
    made = MakeText(4 << 20);
  } else {
    file = MappedFile(settings.corpus);
  }
  const std::string_view text = settings.corpus.empty() ? std::string_view(made) : file.Bytes();
  report.Section(Format("Encoding %s, %.1f MB, MB a second on one core",
                        settings.corpus.empty() ? "made text" : settings.corpus.c_str(),
                        static_cast<double>(text.size()) * 1e-6));
  RunTokenizer(settings, *MakeTokenizer("bytes"), text, "bytes", report);
  BpeModel model;
  const double learning = Seconds([&] { model = TrainBpe(text, 4096, 1); });
  const BpeTokenizer trained("bpe", std::move(model));
  RunTokenizer(settings, trained, text, "bpe, 4096 tokens", report);
  if (!settings.gpt2.empty()) RunTokenizer(settings, *MakeTokenizer("gpt2", settings.gpt2), text, "gpt2", report);
  report.Row(Format("learning 4096 tokens from it took %.2f s", learning), {{"learn_seconds", learning}});
}

void Run(const Settings& settings) {
  Report report;
  report.quiet = settings.json == "-";
  RunTasks(settings, report);
  RunTokenizers(settings, report);
  if (!settings.json.empty()) report.WriteJson(settings.json);
}

}  // namespace

void AddData(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("data", "How fast examples are made and text is tokenised");
  auto settings = std::make_shared<Settings>();
  AddRoundsOption(*command, settings->rounds);
  command->add_option("--corpus", settings->corpus, "text file to encode; by default text is made");
  command->add_option("--gpt2", settings->gpt2, "folder with GPT-2's encoder.json and vocab.bpe");
  AddJsonOption(*command, settings->json);
  command->footer("Example: tra bench data --corpus wiki.valid.raw --gpt2 gpt2");
  command->callback([settings] { Run(*settings); });
}

}  // namespace tra::bench
