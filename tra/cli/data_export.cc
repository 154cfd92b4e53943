// tra data export: writes examples to files for other programs.
#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "tra/base/names.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/task_options.h"
#include "tra/cli/whole_number.h"
#include "tra/tasks/export.h"

namespace tra::cli {
namespace {

struct Request {
  TaskChoice choice;
  uint64_t first = 0, count = 1000;
  std::string format = "jsonl", out;
  bool bare = false;
};

void Export(const Request& request) {
  const GeneratedExamples examples = request.choice.Examples();
  const Task& task = examples.task();
  const ExportFormat& format = FindNamed("format", request.format, kExportFormats);
  Output out(request.out);
  if (!request.bare) {
    const nlohmann::ordered_json origin = Origin(examples, request.first, request.count);
    out.Line(format.head(task, examples.names(), origin));
  }
  for (uint64_t index = request.first; index < request.first + request.count; ++index) {
    out.Line(format.line(examples.At(index), index, task, examples.names()));
  }
  out.Finish();
}

}  // namespace

void AddDataExport(CLI::App& data) {
  CLI::App* command =
      data.add_subcommand("export", "Write examples as JSONL or text, with a head that says what they are");
  auto request = std::make_shared<Request>();
  AddTaskOptions(*command, request->choice);
  command->add_option("--first", request->first, "number of the first example")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command->add_option("--count", request->count, "number of examples")
      ->check(WholeNumber(0, kMostExamples))
      ->capture_default_str();
  command->add_option("--format", request->format, "jsonl or text")
      ->check(CLI::IsMember(NamesIn(kExportFormats)))
      ->capture_default_str();
  command->add_flag("--bare", request->bare,
                    "leave out the head; flip-flop text is then in the form of the public dataset");
  command->add_option("--out", request->out, "file to write; standard output by default");
  command->footer("Example: tra data export flipflop --split dense --count 4000 --format text --bare --out dense.txt");
  command->callback([request] { Export(*request); });
}

}  // namespace tra::cli
