#ifndef TRA_RUN_ENVIRONMENT_H_
#define TRA_RUN_ENVIRONMENT_H_

#include <string>

namespace tra {

// What a result may depend on beside its configuration: revision, processor, libraries, threads. JSON.
std::string EnvironmentJson();

}  // namespace tra

#endif  // TRA_RUN_ENVIRONMENT_H_
