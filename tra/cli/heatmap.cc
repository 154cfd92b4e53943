// tra heatmap: draws what the logits of a head are made of, and its weights.
#include "tra/report/heatmap.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tra/base/names.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/whole_number.h"
#include "tra/inspect/head_heatmap.h"
#include "tra/inspect/inspected_run.h"
#include "tra/report/picture.h"

namespace tra::cli {
namespace {

struct Request {
  std::vector<std::string> runs;
  std::optional<int64_t> layer, length;
  std::string head = "0", scale = "sqrt", split, text, queries, keys, out = "heatmap.svg";
  uint64_t index = 0;
  bool index_given = false;
  int threads = 0;
};

int64_t ParsePosition(const std::string& option, const std::string& text, const char* expected) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) {
    throw std::invalid_argument(option + " must be " + expected + ", got '" + text + "'");
  }
  return value;
}

// Parses "8..31", both ends included, or "8". Returns the first position and the one after the last; all for no text.
std::pair<int64_t, int64_t> ParsePositions(const std::string& option, const std::string& text, int64_t tokens) {
  if (text.empty()) return {0, tokens};
  constexpr char kExpected[] = "a position or a range such as 8..31";
  const size_t dots = text.find("..");
  const int64_t first = ParsePosition(option, text.substr(0, dots), kExpected);
  const int64_t last = dots == std::string::npos ? first : ParsePosition(option, text.substr(dots + 2), kExpected);
  if (first > last || last >= tokens) {
    throw std::invalid_argument(option + " " + text + " is not within the input, whose positions are 0.." +
                                std::to_string(tokens - 1));
  }
  return {first, last + 1};
}

struct Sequence {
  Example example;              // supervised is empty for typed text
  std::vector<int32_t> tokens;  // those of the example that the models read
  std::string name;
};

using Runs = std::vector<std::unique_ptr<InspectedRun>>;

// Returns the first split that is not for training.
std::string DefaultSplit(InspectedRun& run) {
  const std::vector<std::string> splits = run.Splits();
  const auto found =
      std::find_if(splits.begin(), splits.end(), [](const std::string& name) { return name != "train"; });
  return found == splits.end() ? splits.front() : *found;
}

Sequence ReadSequence(const Request& request, const Runs& runs) {
  InspectedRun& run = *runs.front();
  const std::string task = TaskName(run.config().data);
  Sequence input;
  if (!request.text.empty()) {
    if (!request.split.empty() || request.index_given || request.length) {
      throw std::invalid_argument("give either --text, or an example by --split, --index and --length");
    }
    input.example.tokens = run.vocabulary().Read(request.text);
    input.name = "typed " + task;
  } else {
    const std::string split = request.split.empty() ? DefaultSplit(run) : request.split;
    input.example = run.At(split, request.index, request.length);
    input.name = task + ", split " + split + ", example " + std::to_string(request.index);
  }
  input.tokens = input.example.tokens;
  if (input.tokens.empty()) throw std::invalid_argument("--text names no tokens; give at least one");
  for (const auto& each : runs) {
    // Models with positions have none for the last token of the longest example, since they predict nothing after it.
    const std::optional<int64_t> longest = LongestSequence(each->model().config);
    if (longest && static_cast<int64_t>(input.example.tokens.size()) == *longest + 1 && request.text.empty()) {
      input.tokens.resize(static_cast<size_t>(*longest));
    }
  }
  input.name += ": " + std::to_string(input.tokens.size()) + " tokens";
  return input;
}

MatrixPart PartOf(const Request& request, int64_t tokens) {
  MatrixPart part;
  std::tie(part.first_query, part.last_query) = ParsePositions("--queries", request.queries, tokens);
  std::tie(part.first_key, part.last_key) = ParsePositions("--keys", request.keys, tokens);
  const auto most = static_cast<int64_t>(kMostCells);
  if (part.last_query - part.first_query > most || part.last_key - part.first_key > most) {
    throw std::invalid_argument("the input has " + std::to_string(tokens) + " tokens, and a heatmap shows at most " +
                                std::to_string(most) + " queries and keys; choose a part, such as --queries 0.." +
                                std::to_string(most - 1) + " --keys 0.." + std::to_string(most - 1) +
                                ", or a shorter input (--length, --text)");
  }
  return part;
}

std::vector<std::string> Words(const Vocabulary& vocabulary, const std::vector<int32_t>& tokens, int64_t first,
                               int64_t last) {
  std::vector<std::string> words;
  for (int64_t at = first; at < last; ++at) {
    const std::string word = vocabulary.Word(tokens[static_cast<size_t>(at)]);
    words.push_back(word.empty() ? "<end>" : word);  // the token that ends a text has no letters
  }
  return words;
}

// Returns the chosen heads of a layer: a number, or all.
std::vector<int64_t> Heads(const std::string& choice, const Inspection& inspection, int64_t layer) {
  if (choice != "all") return {ParsePosition("--head", choice, "a number or all")};
  std::vector<int64_t> heads;
  for (int64_t head = 0; head < inspection.Attention({layer, 0}).Heads(); ++head) heads.push_back(head);
  return heads;
}

// Draws the chosen heads of a run below what is drawn already.
void AddRun(const Request& request, const std::string& name, const InspectedRun& run, const Sequence& input,
            const MatrixPart& part, Heatmap& map) {
  const Inspection inspection = run.Inspect(input.tokens);
  const int64_t layer = request.layer.value_or(run.model().config.layers - 1);
  const ColorScale scale = FindNamed("scale", request.scale, kColorScales).value;
  const std::vector<AnswerMark> marks = AnswerMarks(inspection, input.example, part);
  const auto right = std::count(marks.begin(), marks.end(), AnswerMark::kRight);
  const auto wrong = std::count(marks.begin(), marks.end(), AnswerMark::kWrong);
  const size_t first = map.rows.size();
  for (const int64_t head : Heads(request.head, inspection, layer)) {
    for (HeatRow& row : HeadRows(run, name, inspection, layer, head, part, scale)) {
      row.marks = marks;
      map.rows.push_back(std::move(row));
    }
  }
  if (right + wrong > 0) {
    map.rows[first].title +=
        "; predicts " + std::to_string(right) + " of " + std::to_string(right + wrong) + " answers";
  }
}

// Throws unless both runs read the same tokens.
void CheckSameInput(const Request& request, size_t number, const InspectedRun& first, const InspectedRun& other) {
  const auto describe = [](const InspectedRun& run) {
    return TaskName(run.config().data) + " with " + std::to_string(run.model().config.vocabulary) + " tokens";
  };
  if (describe(first) == describe(other)) return;
  throw std::invalid_argument(request.runs[number] + " does not read the input of " + request.runs.front() +
                              ": the one reads " + describe(other) + ", the other " + describe(first) +
                              "; draw them one at a time");
}

void RunHeatmap(const Request& request) {
  CheckPictureName(request.out);
  Output out(request.out);  // now, so that a missing folder is said before the work
  SetUpComputing(request.threads);
  Runs runs;
  for (const std::string& name : request.runs) {
    runs.push_back(std::make_unique<InspectedRun>(name, at::kCPU, PrintWarning));
    CheckSameInput(request, runs.size() - 1, *runs.front(), *runs.back());
  }
  const Sequence input = ReadSequence(request, runs);
  const MatrixPart part = PartOf(request, static_cast<int64_t>(input.tokens.size()));
  Heatmap map;
  map.title = "Attention on " + input.name;
  map.subtitle = "Rows are queries, columns are keys.";
  map.query_tokens = Words(runs.front()->vocabulary(), input.tokens, part.first_query, part.last_query);
  map.key_tokens = Words(runs.front()->vocabulary(), input.tokens, part.first_key, part.last_key);
  map.first_query = static_cast<size_t>(part.first_query);
  map.first_key = static_cast<size_t>(part.first_key);
  for (size_t i = 0; i < runs.size(); ++i) AddRun(request, request.runs[i], *runs[i], input, part, map);
  out.Write(PictureBytes(HeatmapSvg(map), request.out));
  out.Finish();
  Output said("");
  said.Line("wrote " + request.out);
  said.Finish();
}

}  // namespace

void AddHeatmap(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("heatmap", "Draw a head of a run: content, position and weights, as the paper's Figure 1");
  auto request = std::make_shared<Request>();
  command->add_option("runs", request->runs, "folders of runs; several are drawn on the input of the first")
      ->required();
  command->add_option("--layer", request->layer, "number of the layer, from 0; the last by default")
      ->check(WholeNumber(0, kMostIndex));
  command->add_option("--head", request->head, "number of the head, from 0, or all")->capture_default_str();
  command->add_option("--split", request->split, "split of the example; the first that is not for training by default");
  CLI::Option* index =
      command->add_option("--index", request->index, "number of the example, or of the window of a text")
          ->check(WholeNumber(0, kMostIndex))
          ->capture_default_str();
  command
      ->add_option("--length", request->length,
                   "length of the example instead of the split's, as the task counts it (tra list), or in tokens")
      ->check(WholeNumber(1, kMostIndex));
  command->add_option("--text", request->text, "the input instead of an example: text, or a task's symbols: w1i0r");
  command->add_option("--queries", request->queries, "rows to draw, such as 8..31; all by default");
  command->add_option("--keys", request->keys, "columns to draw, such as 8..31; all by default");
  command->add_option("--scale", request->scale, "colours of weights: linear, or sqrt, which shows small ones")
      ->check(CLI::IsMember(NamesIn(kColorScales)))
      ->capture_default_str();
  command->add_option("--out", request->out, "the picture, .svg or .png")->capture_default_str();
  AddThreadsOption(*command, request->threads);
  command->footer(
      "Example: tra heatmap runs/flipflop-tra-s1 --length 16 --out tra.svg\n"
      "Keys that the threshold drops, and those that the early stop skips, have colours that no weight has.");
  command->callback([request, index] {
    request->index_given = index->count() > 0;
    RunHeatmap(*request);
  });
}

}  // namespace tra::cli
