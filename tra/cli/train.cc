// tra train: trains one run.
#include <CLI/App.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tra/base/launch.h"
#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/progress.h"
#include "tra/cli/runtime.h"
#include "tra/run/checkpoints.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/train/train_run.h"

namespace tra::cli {
namespace {

struct Request {
  std::string config, run, device, init_from;
  std::vector<std::string> set;
  bool resume = false, quiet = false, print = false;
  int threads = 0;
  int64_t steps = 0;
};

// Returns the number of threads to compute with: the one that a run was trained with so far gives the same bits.
int ChooseThreads(const Request& request, const std::string& path, Progress& progress) {
  if (request.threads > 0 || !request.resume) return request.threads;
  const int recorded = RecordedThreads(path).value_or(0);
  if (recorded > 0) {
    progress.Notice("continuing with " + std::to_string(recorded) + (recorded == 1 ? " thread" : " threads") +
                    " as before; --threads changes that, and the last bits of the results");
  }
  return recorded;
}

// Returns the command that continues the run as it was started.
std::string CommandToContinue(const Request& request, const std::string& path) {
  return "tra train " + path + " --resume" +
         (request.threads > 0 ? " --threads " + std::to_string(request.threads) : "") +
         (request.device.empty() ? "" : " --device " + request.device);
}

int RunTraining(const Request& request) {
  // A run's folder stands for its configuration, and for the place to continue in.
  const bool is_run = IsRun(request.config);
  std::vector<std::string> set = request.set;
  if (!request.init_from.empty()) set.push_back("train.init_from=" + request.init_from);
  RunConfig config = is_run ? ReadRunConfig(request.config, set) : ReadConfig(request.config, set);
  if (request.print) {
    std::cout << ConfigToml(config);
    return 0;
  }
  const std::string path = !request.run.empty() ? request.run : is_run ? request.config : DefaultRunName(config);
  if (request.steps > 0 && IsRun(path)) {  // only the run knows how often it was extended before
    const RunConfig begun = ReadRunConfig(path);
    config.train.steps = begun.train.steps;
    config.train.extended = begun.train.extended;
  }
  CatchStopSignals();
  Progress progress(request.quiet || ReadLaunch().rank > 0);
  SetUpComputing(ChooseThreads(request, path, progress));
  RunPlace place;
  place.path = path;
  place.start = request.resume ? RunDirectory::Start::kResume : RunDirectory::Start::kNew;
  place.device = UseDevice(request.device);
  if (request.steps > 0) place.steps = request.steps;
  const Ended ended = TrainRun(config, place, progress.Hooks());
  if (ended == Ended::kBefore) {
    progress.Notice(path + " is done already; tra eval scores it again");
    return 0;
  }
  if (ended == Ended::kStopped) {
    progress.Notice("stopped and saved; continue with: " + CommandToContinue(request, path));
    return kStoppedOnRequest;
  }
  progress.Notice(std::string(ended == Ended::kTarget ? "target reached" : "done") + "; results in " +
                  run_files::In(path, run_files::kResults));
  return 0;
}

}  // namespace

void AddTrain(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a model, or continue to train one");
  auto request = std::make_shared<Request>();
  command->add_option("config", request->config, "TOML file (tra list --keys), or the folder of a run")->required();
  command->add_option("--set", request->set, "change a key: --set train.lr=1e-3 --set model.attention=rope")
      ->allow_extra_args(false);
  command->add_option("--run", request->run, "folder of the run; runs/TASK-ATTENTION-sSEED by default");
  CLI::Option* resume =
      command->add_flag("--resume", request->resume, "continue from the newest checkpoint, or begin if there is none");
  command->add_option("--steps", request->steps, "with --resume: go on, also after the end, up to this many steps")
      ->check(CLI::PositiveNumber)
      ->needs(resume);
  command->add_option("--init-from", request->init_from,
                      "begin with the weights of this run or .safetensors file (train.init_from)");
  command->add_flag("--quiet", request->quiet, "print only warnings and errors");
  command->add_flag("--print-config", request->print, "only print the configuration, every key with its meaning");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Example: tra train configs/small/copy.toml --set model.attention=rope --set train.seed=2\n"
      "Ctrl-C saves and ends with exit code 3; --resume continues, bit for bit.\n"
      "Longer: tra train runs/copy-rope-s2 --resume --steps 9000\n"
      "Several processes train together as torchrun starts them: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.");
  command->callback([request] { EndWith(RunTraining(*request)); });
}

}  // namespace tra::cli
