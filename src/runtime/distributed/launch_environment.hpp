#pragma once
#include <functional>
#include <optional>
#include <string>

namespace monomorph::distributed {

/// What a launcher says to each process that it starts.
struct LaunchEnvironment {
  std::string launcher;  ///< "torchrun", "srun", "mpirun"
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< of the ranks on this machine, as far as the launcher says
  std::string host;                    ///< where the ranks meet
  int port = 0;
  bool served_by_launcher = false;  ///< the meeting point is open already; otherwise rank 0 opens it
};

/// Reads the environment of torchrun (and of whoever sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT), srun, mpirun
/// (Open MPI) and mpiexec (MPICH, Intel MPI); absent without one, and for a single rank.
/// @param variable value of an environment variable, null if there is none
/// @throws UsageError [RANK-01] a value that can't be; [RANK-02] no word of where the ranks meet
std::optional<LaunchEnvironment> read_launch_environment(const std::function<const char*(const char*)>& variable);

}  // namespace monomorph::distributed
