// tra plot: draws curves, exact match by length, and perplexity by window and position.
#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/cli/charted_run.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/whole_number.h"
#include "tra/report/page.h"
#include "tra/report/picture.h"
#include "tra/report/run_charts.h"
#include "tra/run/find_runs.h"

namespace tra::cli {
namespace {

struct Request {
  std::vector<std::string> runs;
  std::string kind = "curves", x = "auto", y = "auto", band = "auto", out;
  ChartOptions options;
};

std::optional<Scale> ScaleOf(const std::string& name) {
  if (name == "auto") return std::nullopt;
  return FindNamed("scale", name, kScales).value;
}

bool IsPage(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".html" || ending == ".htm";
}

void CheckOut(const std::string& path) {
  if (IsPage(path)) return;
  try {
    CheckPictureName(path);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(path + ": charts are saved as .svg, .png or .html; end the name in one of these");
  }
}

void Plot(const Request& request) {
  CheckOut(request.out);
  const ChartKind& kind = FindNamed("chart", request.kind, ChartKinds());
  ChartOptions options = request.options;
  options.band = FindNamed("band", request.band, kBands).value;
  options.x = ScaleOf(request.x);
  options.y = ScaleOf(request.y);
  const std::vector<ChartedRun> runs = ReadChartedRuns(FindRuns(request.runs));
  const Chart chart = kind.draw(runs, options);
  if (chart.panels.empty()) throw std::runtime_error(std::string("nothing to draw: ") + kind.missing);
  Output out(request.out);
  out.Write(IsPage(request.out) ? ChartPage(chart) : PictureBytes(ChartSvg(chart), request.out));
  out.Finish();
}

template <typename Table>
std::vector<std::string> WithAuto(const Table& table) {
  std::vector<std::string> names = NamesIn(table);
  names.insert(names.begin(), "auto");
  return names;
}

}  // namespace

void AddPlot(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("plot", "Draw runs: learning curves, and scores by length, window or position");
  auto request = std::make_shared<Request>();
  command->add_option("runs", request->runs, "folders of runs, or sweeps (their folder or TOML file)")->required();
  std::string kinds;
  for (const ChartKind& each : ChartKinds()) {
    kinds += (kinds.empty() ? "" : "; ") + std::string(each.name) + ": " + each.summary;
  }
  command->add_option("--chart", request->kind, kinds)
      ->check(CLI::IsMember(NamesIn(ChartKinds())))
      ->capture_default_str();
  // Takes one name each time, or it would take the folders that follow for more names.
  command
      ->add_option(
          "--metric", request->options.metrics,
          "what to draw, such as train/loss or eval/iid/em of curves, and ppl_word of windows; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--window", request->options.windows,
                   "positions: windows of this many tokens; the longest by default")
      ->check(WholeNumber(1, kMostIndex))
      ->allow_extra_args(false);
  command
      ->add_option(
          "--band", request->band,
          "around the mean over seeds; range: from the lowest to the highest; std: a standard deviation; auto: "
          "range, for up to nine settings")
      ->check(CLI::IsMember(NamesIn(kBands)))
      ->capture_default_str();
  command->add_option("--x", request->x, "scale of the x axis")
      ->check(CLI::IsMember(WithAuto(kScales)))
      ->capture_default_str();
  command->add_option("--y", request->y, "scale of the y axis; auto: logarithmic where values explode")
      ->check(CLI::IsMember(WithAuto(kScales)))
      ->capture_default_str();
  command->add_option("--title", request->options.title, "instead of the chart's own");
  command->add_option("--out", request->out, "file to write: .svg, .png, or .html to look at values in")->required();
  command->footer(
      "Example: tra plot results/two-cores/table1 --out curves.svg\n"
      "tra plot runs/text --chart windows --out figure2.png");
  command->callback([request] { Plot(*request); });
}

}  // namespace tra::cli
