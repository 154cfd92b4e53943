#ifndef TRA_RUN_ENVIRONMENT_H_
#define TRA_RUN_ENVIRONMENT_H_

#include <string>

namespace tra {

// Returns, as JSON, what a result may depend on besides its configuration: revision, processor, libraries, threads,
// device.
std::string EnvironmentJson(const std::string& device);

}  // namespace tra

#endif  // TRA_RUN_ENVIRONMENT_H_
