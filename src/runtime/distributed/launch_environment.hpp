#pragma once
#include <functional>
#include <optional>
#include <string>

namespace monomorph::distributed {

/// What a launcher says to each process that it starts.
struct LaunchEnvironment {
  std::string launcher;  ///< "torchrun", "srun", "mpirun", "mpiexec"
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< of the ranks on this machine, as far as the launcher says
  std::string host;                    ///< where the ranks meet
  int port = 0;
  bool served_by_launcher = false;  ///< the rendezvous is open already; otherwise rank 0 opens it
};

/// Reads the environment of torchrun (and of whoever sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT), mpirun (Open
/// MPI), mpiexec (MPICH, Intel MPI) and srun; absent without one, and for a single rank.
///
/// A process that overlooks its launcher trains alone beside the others, into the same folder, and nobody notices. So a
/// launcher's variables count as soon as one of them is set: a rank without the number of ranks is refused, and so is
/// the reverse, whatever the values, since rank 0 of a group that lacks WORLD_SIZE looks like any other. A number that
/// is set to nothing is refused as well: that is what a job script makes of a name that it has misspelt.
///
/// What real environments have is not refused:
/// - MASTER_ADDR and MASTER_PORT alone, which profiles and clusters set for every process, say where ranks would meet,
///   and not that there are any.
/// - In a batch script, and wherever one process of an allocation runs, Slurm sets SLURM_PROCID and SLURM_LOCALID to 0
///   and no SLURM_STEP_NUM_TASKS. What describes the allocation (SLURM_NTASKS and others) is not read at all. An
///   interactive shell of salloc or srun is a step of one task.
/// - Job scripts set some of torchrun's variables beside srun or mpirun (WORLD_SIZE=$SLURM_NTASKS, RANK=$SLURM_PROCID,
///   LOCAL_RANK=$SLURM_LOCALID) for programs that read those. Such a half is complete with the launcher's own
///   variables, and must say the same.
/// - torchrun, told by TORCHELASTIC_RUN_ID, may start one rank within a step of several tasks. RANK=0 and WORLD_SIZE=1
///   from an image or a profile say there that each task would train alone, and are refused.
/// - mpiexec of MPICH and Intel MPI may itself start by srun, one task a node, whose variables its ranks inherit; and
///   srun may set PMI_RANK and PMI_SIZE for its own ranks. They are mpiexec's unless srun says the same.
/// @param variable value of an environment variable, null if there is none
/// @throws UsageError [RANK-01] a value that can't be; [RANK-02] no word of where the ranks meet; [RANK-21] half of a
///   launcher's variables; [RANK-22] halves that contradict each other
std::optional<LaunchEnvironment> read_launch_environment(const std::function<const char*(const char*)>& variable);

}  // namespace monomorph::distributed
