// Tells how this process was started, alone or as one of several, from the environment variables that torchrun sets.
#ifndef TRA_BASE_LAUNCH_H_
#define TRA_BASE_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tra {

struct Launch {
  int rank = 0;
  int size = 1;                   // number of processes
  std::optional<int> local_rank;  // rank among the processes on this machine
  std::string master_address;
  uint16_t master_port = 0;
  // Whether torchrun itself serves the store at the master's port, and keeps it when it restarts the processes.
  bool agent_store = false;
  std::string attempt = "0";
};

// Reads RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and, if set, LOCAL_RANK. If neither of the first two is set, there
// is one process. Throws std::invalid_argument that names the variable.
Launch ReadLaunch();

}  // namespace tra

#endif  // TRA_BASE_LAUNCH_H_
