// Updates all parameters of a model by AdamW in one pass.
//
// Contiguous fp32 parameters on the CPU go through the kernel, others through the same maths composed of tensor
// operations. The results are those of torch.optim.AdamW up to rounding.
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
    // Step overwrites the gradients it has read with zeros, which saves a pass over them. From then on such a parameter
    // always has a gradient: a step without a backward decays it, whereas a parameter without gradient is skipped.
    bool zero_grad = false;
  };

  // Holds what a checkpoint must store for a parameter.
  struct State {
    int64_t step = 0;                // steps taken; skipped ones are not counted
    at::Tensor exp_avg, exp_avg_sq;  // shaped like the parameter; undefined before the first step
  };

  explicit AdamW(std::vector<Group> groups);
  AdamW(std::vector<Group> groups, const Options& options);

  // Updates every parameter that has a gradient. grad_scale multiplies every gradient, to clip it or to turn a summed
  // loss into a mean. Refuses an lr or a grad_scale that is not finite.
  void Step(double lr, double grad_scale = 1.0);

  // Releases the gradients, as torch.optim does by default: the next backward then writes them instead of adding to
  // them.
  void ZeroGrad();

  // Returns the 2-norm of all gradients as one vector, summed in float64 and in a fixed order. It is NaN or Inf if any
  // of them is: check it before Step.
  double GradNorm() const;

  // Returns the states of all parameters, in the order of the groups. The tensors are those in use: clone what must
  // outlive the next step.
  const std::vector<State>& States() const { return states_; }
  // Copies the states. Refuses states that do not fit these parameters.
  void LoadStates(const std::vector<State>& states);

 private:
  struct Parameter {
    at::Tensor tensor;
    double weight_decay;
  };

  Options options_;
  std::vector<Parameter> parameters_;
  std::vector<State> states_;  // one per parameter
};

}  // namespace tra

#endif  // TRA_OPS_ADAMW_H_
