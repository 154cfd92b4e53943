// tra data import: checks flip-flop sequences from elsewhere, and converts them.
#include <CLI/App.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/tasks/export.h"
#include "tra/tasks/flipflop_lines.h"

namespace tra::cli {
namespace {

const Split& NearestSplit(const Task& task, double ignore) {
  const Split* nearest = &task.splits.front();
  for (const Split& split : task.splits) {
    if (std::abs(split.ignore - ignore) < std::abs(nearest->ignore - ignore)) nearest = &split;
  }
  return *nearest;
}

void WriteJsonl(const FlipflopLines& lines, const Task& task, const std::string& from, const std::string& to) {
  Output out(to);
  const std::vector<std::string> names = task.kind.names(task.symbols);
  const uint64_t count = *lines.Size();
  out.Line(JsonlHead(task, names, {{"imported", from}, {"first", 0}, {"count", count}}));
  for (uint64_t index = 0; index < count; ++index) out.Line(JsonlLine(lines.At(index), index, task, names));
  out.Finish();
}

void Import(const std::string& path, const std::string& to) {
  const Task& task = FindTask("flipflop");
  const FlipflopLines lines(path);
  if (!to.empty()) WriteJsonl(lines, task, path, to);
  if (to == "-") return;
  const FlipflopLines::Counts& counts = lines.counts();
  char rate[16];
  std::snprintf(rate, sizeof(rate), "%.4f", lines.IgnoreRate());
  Output out("");
  out.Line(path + ": " + std::to_string(*lines.Size()) + " sequences of " + std::to_string(counts.shortest) +
           (counts.shortest == counts.longest ? "" : " to " + std::to_string(counts.longest)) +
           " symbols, all well-formed: every r returns the bit last written");
  out.Line("drawn instructions: " + std::to_string(counts.write) + " w, " + std::to_string(counts.read) + " r, " +
           std::to_string(counts.ignore) + " i; P(i) = " + rate + ", nearest to split " +
           NearestSplit(task, lines.IgnoreRate()).name);
  if (!to.empty()) out.Line("written to " + to);
  out.Finish();
}

}  // namespace

void AddDataImport(CLI::App& data) {
  CLI::App* command = data.add_subcommand(
      "import", "Check flip-flop sequences in the public dataset's text form (w1i0i1r1, one per line)");
  auto path = std::make_shared<std::string>(), to = std::make_shared<std::string>();
  command->add_option("file", *path, "text file; empty lines and lines that begin with # are skipped")->required();
  command->add_option("--out", *to, "also write them as JSONL, as tra data export does; - for standard output");
  command->footer("Example: tra data import dense.txt --out dense.jsonl");
  command->callback([path, to] { Import(*path, *to); });
}

}  // namespace tra::cli
