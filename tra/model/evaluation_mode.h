#ifndef TRA_MODEL_EVALUATION_MODE_H_
#define TRA_MODEL_EVALUATION_MODE_H_

#include "tra/model/decoder.h"

namespace tra {

// Turns dropout off while it lives. The destructor restores the model's mode, also after an error.
class EvaluationMode {
 public:
  explicit EvaluationMode(Decoder& model) : model_(model), was_training_(model.is_training()) { model_.eval(); }
  ~EvaluationMode() { model_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Decoder& model_;
  bool was_training_;
};

}  // namespace tra

#endif  // TRA_MODEL_EVALUATION_MODE_H_
