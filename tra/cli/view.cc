// tra view: serves a page on this machine in which a person can explore what the heads of trained models do.
#include <CLI/App.hpp>
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/view/explorer.h"
#include "tra/view/server.h"

namespace tra::cli {
namespace {

struct Request {
  std::vector<std::string> folders;
  std::string device;
  int port = 8420, threads = 0;
  int64_t tokens = ViewLimits().tokens;
};

void RunView(const Request& request) {
  CatchStopSignals();
  SetUpComputing(request.threads);
  ViewLimits limits;
  limits.tokens = request.tokens;
  Explorer explorer(request.folders, UseDevice(request.device), limits, PrintWarning);
  if (explorer.Shown() == 0) {
    throw std::runtime_error(
        "none of these runs can be shown, for want of checkpoints or because they are damaged; train one: tra train "
        "configs/small/flipflop.toml");
  }
  ViewServer server(explorer, request.port);
  std::atomic<bool> ended{false};
  std::thread watch([&] {
    while (!StopRequested() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server.Stop();
  });
  std::cerr << "tra: " << explorer.Shown() << " of " << explorer.Runs()
            << " runs can be shown at http://127.0.0.1:" << server.Port() << "/ (Ctrl-C ends)\n";
  server.Serve();
  ended = true;
  watch.join();
}

}  // namespace

void AddView(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("view", "Explore the heads of trained runs in a browser, on this machine only");
  auto request = std::make_shared<Request>();
  command->add_option("folders", request->folders, "folders of runs, or folders that hold runs")->required();
  command->add_option("--port", request->port, "port of 127.0.0.1 to serve at; 0 takes any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--tokens", request->tokens, "longest input that the page may ask for")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Example: tra view runs/demo\nOn another machine: ssh -L 8420:127.0.0.1:8420 MACHINE, then open the page here.");
  command->callback([request] { RunView(*request); });
}

}  // namespace tra::cli
