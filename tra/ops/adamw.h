// AdamW over all parameters of a model in one pass.
//
// fp32 parameters on the CPU go through the kernel; others through the same maths composed of tensor operations. The
// results are those of torch.optim.AdamW up to rounding.
#ifndef TRA_OPS_ADAMW_H_
#define TRA_OPS_ADAMW_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tra {

class AdamW {
 public:
  struct Group {
    std::vector<at::Tensor> parameters;
    double weight_decay = 0.0;
  };

  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    // Step leaves zeros in place of the gradients it has read, which saves a pass over them. Such a parameter has a
    // gradient ever after: a step without a backward decays it, where a parameter without gradient would be skipped.
    bool zero_grad = false;
  };

  // What a checkpoint must hold of a parameter.
  struct State {
    int64_t step = 0;                // taken, skipped ones not counted
    at::Tensor exp_avg, exp_avg_sq;  // as the parameter; undefined before the first step
  };

  explicit AdamW(std::vector<Group> groups);
  AdamW(std::vector<Group> groups, const Options& options);

  // Parameters without a gradient are skipped. grad_scale multiplies every gradient: for clipping, or for the mean of a
  // summed loss. Refuses an lr or a grad_scale that is not finite.
  void Step(double lr, double grad_scale = 1.0);

  // Gives the gradients away, as torch.optim does by default: the next backward then writes them instead of adding.
  void ZeroGrad();

  // The 2-norm of all gradients as one vector, in float64 and in a fixed order. NaN or Inf if any of them is: look at
  // it before Step.
  double GradNorm() const;

  // Of all parameters, in the order of the groups. The tensors are those in use: clone what shall outlive the next
  // step.
  const std::vector<State>& States() const { return states_; }
  // Copies. Refuses states that are not those of these parameters.
  void LoadStates(const std::vector<State>& states);

 private:
  struct Parameter {
    at::Tensor tensor;
    double weight_decay;
  };

  Options options_;
  std::vector<Parameter> parameters_;
  std::vector<State> states_;  // by parameter
};

}  // namespace tra

#endif  // TRA_OPS_ADAMW_H_
