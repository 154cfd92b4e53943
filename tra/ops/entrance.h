// Defines operators that LibTorch calls as one, not as the tensor operations that they happen to make on their way.
#ifndef TRA_OPS_ENTRANCE_H_
#define TRA_OPS_ENTRANCE_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <string>
#include <utility>

namespace tra {

// Stands at the entrance of every operator. Throws for what the kernels would answer wrongly in silence: a forward-mode
// derivative, and a gradient of what is traced. Then goes on to the operator itself, or to who traces.
void EnterOperator(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

// Adds an operator to the library. `function` brings autograd itself, and reads memory that tracing does not see, so it
// must not be taken for a composition of operations: it would be traced as those that allocate its results.
template <typename Function>
void DefineOperator(torch::Library& library, const std::string& schema, Function&& function) {
  const std::string name = schema.substr(0, schema.find('('));
  library.def(schema.c_str());
  library.impl(name.c_str(),
               torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, std::forward<Function>(function)));
  library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::Autograd,
                                             torch::CppFunction::makeFromBoxedFunction<&EnterOperator>()));
}

}  // namespace tra

#endif  // TRA_OPS_ENTRANCE_H_
