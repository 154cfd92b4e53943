// How this process was started: the environment variables that torchrun sets.
#ifndef TRA_TRAIN_REPLICAS_LAUNCH_H_
#define TRA_TRAIN_REPLICAS_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tra {

struct Launch {
  int rank = 0;
  int size = 1;                   // processes
  std::optional<int> local_rank;  // among those of this machine
  std::string master_address;
  uint16_t master_port = 0;
  // torchrun itself holds the store at the master's port, and keeps it over the restarts it makes.
  bool agent_store = false;
  std::string attempt = "0";
};

// RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and, where it is set, LOCAL_RANK; one process if neither of the first two
// is set. Throws std::invalid_argument that names the variable.
Launch ReadLaunch();

}  // namespace tra

#endif  // TRA_TRAIN_REPLICAS_LAUNCH_H_
