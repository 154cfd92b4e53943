// tra data show: prints an example with its answers marked and explained.
#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/task_options.h"
#include "tra/cli/whole_number.h"
#include "tra/tasks/example_folder.h"
#include "tra/tasks/export.h"

namespace tra::cli {
namespace {

constexpr size_t kLine = 72;       // characters of symbols per line
constexpr size_t kSentences = 12;  // of an explanation, without --all

struct Request {
  TaskChoice choice;
  std::string folder;  // of examples of one's own
  uint64_t index = 0;
  bool json = false, all = false;
  std::string color = "auto";
};

// Holds an example and all that is said about it.
struct Shown {
  std::string origin, answers;  // where the example comes from, which of its symbols are answers
  Example example;
  std::vector<std::string> names;
  std::string separator, group;
  std::vector<std::string> sentences;
};

Shown FromTask(const Request& request) {
  const GeneratedExamples examples = request.choice.Examples();
  const Kind& kind = examples.task().kind;
  Shown shown = {std::string(examples.task().name) + ", split " + examples.split().name + ", seed " +
                     std::to_string(examples.seed()),
                 " (" + std::string(kind.supervision) + ")",
                 examples.At(request.index),
                 examples.names(),
                 kind.separator,
                 "",
                 {}};
  if (!kind.groups.empty()) shown.group = kind.groups[static_cast<size_t>(shown.example.group)];
  const bool plain = request.choice.options.pack == 0 && request.choice.options.offset == 0;
  if (plain) shown.sentences = kind.explain(shown.example, shown.names);  // they exist only for a single example
  return shown;
}

Shown FromFolder(const Request& request) {
  if (request.folder.empty()) throw std::invalid_argument("jsonl needs the folder of its files: --folder FOLDER");
  const ExampleFolder folder(request.folder);
  // Other than tasks, a folder need not have a split iid: the first that is not for training stands for it.
  const std::vector<std::string>& splits = folder.splits();
  const std::string split = request.choice.split.empty() ? splits[splits.size() > 1 ? 1 : 0] : request.choice.split;
  const std::shared_ptr<const FileExamples>& examples = folder.Split(split);
  if (request.index >= *examples->Size()) {
    throw std::invalid_argument("split " + split + " has " + std::to_string(*examples->Size()) +
                                " examples; give a number below that");
  }
  const Example example = examples->At(request.index);
  std::string group;
  if (!folder.groups().empty()) group = folder.groups()[static_cast<size_t>(example.group)];
  return {request.folder + ", split " + split + ", line " + std::to_string(examples->Line(request.index)),
          "",
          example,
          folder.names(),
          " ",
          group,
          group.empty() ? std::vector<std::string>() : std::vector<std::string>{"the group is " + group}};
}

// Prints the symbols with answers marked, in lines that begin with the number of their first symbol.
void PrintSymbols(const Shown& shown, bool color, Output& out) {
  std::string line;
  size_t width = 0;
  for (size_t at = 0; at < shown.example.tokens.size(); ++at) {
    const std::string& name = shown.names[static_cast<size_t>(shown.example.tokens[at])];
    const bool answer = shown.example.supervised[at] != 0;
    const size_t needed = name.size() + shown.separator.size() + (answer && !color ? 2 : 0);
    if (width > 0 && width + needed > kLine) {
      out.Line(line);
      width = 0;
    }
    if (width == 0) {
      const std::string number = std::to_string(at);
      line = std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  ";
    }
    line += width == 0 ? "" : shown.separator;
    line += !answer ? name : color ? "\033[1;32m" + name + "\033[0m" : "[" + name + "]";
    width += needed;
  }
  out.Line(line);
}

void Show(const Request& request) {
  const Shown shown = request.choice.task == "jsonl" ? FromFolder(request) : FromTask(request);
  const Example& example = shown.example;
  Output out("");
  if (request.json) {
    out.Line(JsonlLine(example, request.index, shown.separator, shown.group, shown.names));
    out.Finish();
    return;
  }
  const auto answers = std::count(example.supervised.begin(), example.supervised.end(), 1);
  out.Line(shown.origin + ", example " + std::to_string(request.index) + ": " + std::to_string(example.tokens.size()) +
           " symbols, " + std::to_string(answers) + (answers == 1 ? " answer" : " answers") + shown.answers);
  out.Line("");
  PrintSymbols(shown, UseColor(request.color), out);
  if (!shown.sentences.empty()) out.Line("");
  const size_t most = request.all ? shown.sentences.size() : std::min(shown.sentences.size(), kSentences);
  for (size_t i = 0; i < most; ++i) out.Line("  " + shown.sentences[i]);
  if (most < shown.sentences.size()) {
    out.Line("  and " + std::to_string(shown.sentences.size() - most) + " more (--all)");
  }
  out.Finish();
}

}  // namespace

void AddDataShow(CLI::App& data) {
  CLI::App* command =
      data.add_subcommand("show", "Show an example with its answers marked, and why they are the answers");
  auto request = std::make_shared<Request>();
  AddTaskOptions(*command, request->choice);
  command->add_option("--folder", request->folder, "folder of examples of one's own, for the task jsonl");
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
