// tra train: one run.
#include <CLI/App.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/progress.h"
#include "tra/cli/runtime.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/train/trainer.h"

namespace tra::cli {
namespace {

struct Request {
  std::string config, run, device;
  std::vector<std::string> set;
  bool resume = false, quiet = false, print = false;
  int threads = 0;
};

int RunTraining(const Request& request) {
  // A run's folder stands for its configuration, and for the place to go on.
  const bool is_run = IsRun(request.config);
  const RunConfig config =
      is_run ? ReadRunConfig(request.config, request.set) : ReadConfig(request.config, request.set);
  if (request.print) {
    std::cout << ConfigToml(config);
    return 0;
  }
  const std::string path = !request.run.empty() ? request.run : is_run ? request.config : DefaultRunName(config);
  SetUpComputing(request.threads);
  Replicas::Options options;
  options.device = UseDevice(request.device);
  const std::unique_ptr<Replicas> replicas = Replicas::FromEnvironment(options);
  Progress progress(request.quiet || replicas->rank() > 0);
  std::unique_ptr<RunDirectory> run;
  std::vector<double> done = {0.0};
  replicas->OnFirst([&] {
    CheckRun(config);
    run = std::make_unique<RunDirectory>(
        path, config, request.resume ? RunDirectory::Start::kResume : RunDirectory::Start::kNew, options.device.str());
    done[0] = IsDone(path) ? 1.0 : 0.0;
    if (!run->Locked() && done[0] == 0) {
      progress.Warn(path + ": its file system has no locks; take care that no other process trains there");
    }
  });
  replicas->Sum(done);
  if (done[0] > 0) {
    progress.Notice(path + " is done already; tra eval scores it again");
    return 0;
  }
  CatchStopSignals();
  const Ended ended = Train(config, run.get(), *replicas, progress.Hooks());
  if (ended == Ended::kStopped) {
    progress.Notice("stopped and saved; go on with: tra train " + path + " --resume");
    return kStoppedOnRequest;
  }
  progress.Notice(std::string(ended == Ended::kTarget ? "target reached" : "done") + "; results in " +
                  run_files::In(path, run_files::kResults));
  return 0;
}

}  // namespace

void AddTrain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("train", "Train a model, or go on with one");
  auto request = std::make_shared<Request>();
  command->add_option("config", request->config, "TOML file (tra list --keys), or the folder of a run")->required();
  command->add_option("--set", request->set, "change a key: --set train.lr=1e-3 --set model.attention=rope")
      ->allow_extra_args(false);
  command->add_option("--run", request->run, "folder of the run; runs/TASK-ATTENTION-sSEED by default");
  command->add_flag("--resume", request->resume, "go on from the newest checkpoint, or begin if there is none");
  command->add_flag("--quiet", request->quiet, "say nothing on the way");
  command->add_flag("--print-config", request->print, "only print the configuration, every key with its meaning");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Example: tra train configs/small/copy.toml --set model.attention=rope --set train.seed=2\n"
      "Ctrl-C saves and ends with exit code 3; --resume goes on, bit for bit.\n"
      "Several processes train together as torchrun starts them: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.");
  command->callback([request, &exit_code] { exit_code = RunTraining(*request); });
}

}  // namespace tra::cli
