#ifndef TRA_OPS_ATEN_PARALLEL_H_
#define TRA_OPS_ATEN_PARALLEL_H_

#include "tra/kernels/parallel.h"

namespace tra {

// Runs tasks on torch's own intra-op threads, as many as torch.get_num_threads() says.
class AtenParallel : public Parallel {
 public:
  AtenParallel();
  size_t Workers() const override { return workers_; }
  void Run(size_t tasks, const Body& body) override;

 private:
  size_t workers_;
};

}  // namespace tra

#endif  // TRA_OPS_ATEN_PARALLEL_H_
