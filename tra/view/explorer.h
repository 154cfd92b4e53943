// Answers the requests of the explorer's page (web/API.md): what a run's model answers, and any part of its matrices.
#ifndef TRA_VIEW_EXPLORER_H_
#define TRA_VIEW_EXPLORER_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tra/inspect/inspected_run.h"

namespace tra {

class ViewRequest;

// Bounds what one request may cost.
struct ViewLimits {
  int64_t tokens = 4096;
  int64_t cells = int64_t{1} << 22;  // of one answer
  int64_t work = int64_t{1} << 26;   // cells that are computed for one answer, which pools them
};

struct ViewAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Threads may share an explorer; it computes one answer at a time.
class Explorer {
 public:
  // Takes what FindRuns does. Loads each run once, to see whether it can be shown; a run that cannot be is listed with
  // the reason.
  Explorer(const std::vector<std::string>& folders, at::Device device, const ViewLimits& limits,
           const Warning& warning);

  // Answers a request: GET without a body, or POST of JSON. What is wrong with a request is in the answer.
  ViewAnswer Answer(const std::string& method, const std::string& path, const std::string& body);

  size_t Runs() const { return runs_.size(); }
  size_t Shown() const;  // those that can be shown

 private:
  struct Run {
    std::string folder, name;
    std::string listed = {};  // its entry of /api/runs
    std::string error = {};   // why it cannot be shown; empty if it can
  };
  struct Endpoint;
  static const std::vector<Endpoint>& Endpoints();

  void List(Run& run, size_t id);
  InspectedRun& Load(size_t id);
  size_t RunOf(const ViewRequest& asked) const;
  const Inspection& Inspect(const ViewRequest& asked);

  ViewAnswer RunList(const ViewRequest& asked);
  ViewAnswer Input(const ViewRequest& asked);
  ViewAnswer Stretch(const ViewRequest& asked);
  ViewAnswer Predictions(const ViewRequest& asked);
  ViewAnswer Matrix(const ViewRequest& asked);
  ViewAnswer Row(const ViewRequest& asked);

  at::Device device_;
  ViewLimits limits_;
  Warning warning_;
  std::vector<Run> runs_;
  std::mutex mutex_;
  // The newest first; a few are kept, since the page asks for many parts of the same matrices.
  std::list<std::pair<size_t, std::unique_ptr<InspectedRun>>> loaded_;
  std::list<std::pair<size_t, Inspection>> inspected_;
};

}  // namespace tra

#endif  // TRA_VIEW_EXPLORER_H_
