#ifndef TRA_RUN_ENVIRONMENT_H_
#define TRA_RUN_ENVIRONMENT_H_

#include <string>

namespace tra {

// What a result may depend on beside its configuration: revision, processor, libraries, threads, device. JSON.
std::string EnvironmentJson(const std::string& device);

}  // namespace tra

#endif  // TRA_RUN_ENVIRONMENT_H_
