// tra data show: prints an example with its answers marked and explained.
#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/task_options.h"
#include "tra/cli/whole_number.h"
#include "tra/tasks/export.h"

namespace tra::cli {
namespace {

constexpr size_t kLine = 72;       // characters of symbols per line
constexpr size_t kSentences = 12;  // of an explanation, without --all

struct Request {
  TaskChoice choice;
  uint64_t index = 0;
  bool json = false, all = false;
  std::string color = "auto";
};

// Prints the symbols with answers marked, in lines that begin with the number of their first symbol.
void PrintSymbols(const Example& example, const GeneratedExamples& examples, bool color, Output& out) {
  const std::string separator = examples.task().kind.separator;
  std::string line;
  size_t width = 0;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    const std::string& name = examples.names()[static_cast<size_t>(example.tokens[at])];
    const bool answer = example.supervised[at] != 0;
    const size_t needed = name.size() + separator.size() + (answer && !color ? 2 : 0);
    if (width > 0 && width + needed > kLine) {
      out.Line(line);
      width = 0;
    }
    if (width == 0) {
      const std::string number = std::to_string(at);
      line = std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  ";
    }
    line += width == 0 ? "" : separator;
    line += !answer ? name : color ? "\033[1;32m" + name + "\033[0m" : "[" + name + "]";
    width += needed;
  }
  out.Line(line);
}

void Show(const Request& request) {
  const GeneratedExamples examples = request.choice.Examples();
  const Example example = examples.At(request.index);
  const Task& task = examples.task();
  Output out("");
  if (request.json) {
    out.Line(JsonlLine(example, request.index, task, examples.names()));
    out.Finish();
    return;
  }
  const auto answers = std::count(example.supervised.begin(), example.supervised.end(), 1);
  out.Line(std::string(task.name) + ", split " + examples.split().name + ", seed " + std::to_string(examples.seed()) +
           ", example " + std::to_string(request.index) + ": " + std::to_string(example.tokens.size()) + " symbols, " +
           std::to_string(answers) + (answers == 1 ? " answer" : " answers") + " (" + task.kind.supervision + ")");
  out.Line("");
  PrintSymbols(example, examples, UseColor(request.color), out);
  const bool plain = request.choice.options.pack == 0 && request.choice.options.offset == 0;
  if (plain) {  // explanations exist only for a single example
    out.Line("");
    const std::vector<std::string> sentences = task.kind.explain(example, examples.names());
    const size_t shown = request.all ? sentences.size() : std::min(sentences.size(), kSentences);
    for (size_t i = 0; i < shown; ++i) out.Line("  " + sentences[i]);
    if (shown < sentences.size()) {
      out.Line("  and " + std::to_string(sentences.size() - shown) + " more (--all)");
    }
  }
  out.Finish();
}

}  // namespace

void AddDataShow(CLI::App& data) {
  CLI::App* command =
      data.add_subcommand("show", "Show an example with its answers marked, and why they are the answers");
  auto request = std::make_shared<Request>();
  AddTaskOptions(*command, request->choice);
  command->add_option("--index", request->index, "number of the example")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command->add_flag("--all", request->all, "explain every answer");
  command->add_flag("--json", request->json, "print JSON, for programs");
  AddColorOption(*command, request->color);
  command->footer("Example: tra data show flipflop --split sparse --index 17");
  command->callback([request] { Show(*request); });
}

}  // namespace tra::cli
