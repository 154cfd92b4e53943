// Finds the weights of another run or file that training begins with (train.init_from).
#ifndef TRA_RUN_INITIAL_WEIGHTS_H_
#define TRA_RUN_INITIAL_WEIGHTS_H_

#include <string>

#include "tra/model/decoder.h"

namespace tra {

// Returns the file of weights that `from` stands for: itself, or that of the newest sound checkpoint of a run. Throws
// std::runtime_error if there is none.
std::string FindInitialWeights(const std::string& from);

// Throws std::invalid_argument that names the keys if weights from there do not fit a model, as far as the file says
// what they are of.
void CheckInitialWeights(const std::string& from, const ModelConfig& model);

// Names their SHA-256 in Fingerprint::data.
constexpr char kInitialWeightsSum[] = "train.init_from";

struct InitialWeights {
  std::string file, sha256;
};
// Copies them into the model, and returns what they were. Throws like the functions above, and std::runtime_error that
// names the tensor if one does not fit.
InitialWeights LoadInitialWeights(const std::string& from, Decoder& model);

}  // namespace tra

#endif  // TRA_RUN_INITIAL_WEIGHTS_H_
