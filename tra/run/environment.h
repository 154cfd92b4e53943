#ifndef TRA_RUN_ENVIRONMENT_H_
#define TRA_RUN_ENVIRONMENT_H_

#include <string>

namespace tra {

// Returns, as JSON, what a result may depend on besides its configuration: revision, processor, libraries, threads,
// device.
std::string EnvironmentJson(const std::string& device);

// Returns what `tra --version` says: version, revision, libraries, and the SIMD instructions that the kernels use here.
std::string VersionText();

// Returns the number of this version, as in "0.1.0".
std::string Version();

}  // namespace tra

#endif  // TRA_RUN_ENVIRONMENT_H_
