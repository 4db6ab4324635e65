#include "runtime/distributed/launch_environment.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <string_view>

namespace monomorph::distributed {
namespace {

using Variable = std::function<const char*(const char*)>;

constexpr int default_port = 29'500;  // torchrun's

struct Launcher {
  const char *name, *size, *rank, *local_size, *local_rank;
};
/// In the order in which they are looked for: one may have been started by the next.
constexpr Launcher launchers[] = {{"torchrun", "WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK"},
                                  {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                  {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE",
                                   "SLURM_LOCALID"},
                                  {"mpiexec", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};

std::string_view text_of(const Variable& variable, const char* name) {
  const char* const value = variable(name);
  return value == nullptr ? std::string_view() : value;
}

int number(const Variable& variable, const char* name, int lowest, int highest) {
  const std::string_view text = text_of(variable, name);
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
    throw UsageError(
        fmt::format("[RANK-01] the environment variable {} must be a number from {} to {}, and is \"{}\"; "
                    "start the ranks with a launcher (torchrun --no-python, srun, mpirun, --ranks N)",
                    name, lowest, highest, text));
  return value;
}

/// Of Slurm's list of tasks per node, which is as "4(x3),2": nodes seldom have different numbers, and it is for an
/// estimate. 1 if nothing is said.
int first_number(std::string_view text, int highest) {
  int value = 1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::clamp(value, 1, highest);
}

/// The first host of Slurm's list: "node[07-09,12]" and "node7,node8" begin with node07 and node7.
std::string first_host(std::string_view list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string_view::npos || comma < bracket) return std::string(list.substr(0, comma));
  const std::string_view numbers = list.substr(bracket + 1);
  return std::string(list.substr(0, bracket)) + std::string(numbers.substr(0, numbers.find_first_of("-,]")));
}

/// A port that two jobs on one host will hardly share.
int port_of_job(std::string_view job) {
  unsigned hash = 0;
  for (const char c : job) hash = hash * 31 + static_cast<unsigned char>(c);
  return 20'000 + static_cast<int>(hash % 10'000);
}

std::string host_of(const Variable& variable, const LaunchEnvironment& found) {
  if (const std::string_view given = text_of(variable, "MASTER_ADDR"); !given.empty()) return std::string(given);
  if (found.launcher == "srun")
    if (const std::string_view nodes = text_of(variable, "SLURM_STEP_NODELIST"); !nodes.empty())
      return first_host(nodes);
  const std::string_view local = text_of(variable, "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (found.launcher == "mpirun" && local == std::to_string(found.size)) return "127.0.0.1";
  throw UsageError(
      fmt::format("[RANK-02] {} says that there are {} ranks, and not where they meet; set MASTER_ADDR to the host of "
                  "rank 0 for all of them (and MASTER_PORT, if {} is taken there)",
                  found.launcher, found.size, default_port));
}

int port_of(const Variable& variable, const LaunchEnvironment& found) {
  if (!text_of(variable, "MASTER_PORT").empty()) return number(variable, "MASTER_PORT", 1, 65'535);
  if (found.launcher == "srun")
    return port_of_job(fmt::format("{}.{}", text_of(variable, "SLURM_JOB_ID"), text_of(variable, "SLURM_STEP_ID")));
  if (const std::string_view job = text_of(variable, "PMIX_NAMESPACE"); !job.empty()) return port_of_job(job);
  return default_port;
}

}  // namespace

std::optional<LaunchEnvironment> read_launch_environment(const Variable& variable) {
  for (const auto& [name, size, rank, local_size, local_rank] : launchers) {
    if (variable(size) == nullptr) continue;
    LaunchEnvironment found;
    found.launcher = name;
    found.size = number(variable, size, 1, 1 << 20);
    if (found.size == 1) return std::nullopt;
    found.rank = number(variable, rank, 0, found.size - 1);
    found.local_size = first_number(text_of(variable, local_size), found.size);
    found.local_rank = text_of(variable, local_rank).empty() ? found.rank % found.local_size  // as most lay them out
                                                             : number(variable, local_rank, 0, found.size - 1);
    found.host = host_of(variable, found);
    found.port = port_of(variable, found);
    found.served_by_launcher = text_of(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
    return found;
  }
  return std::nullopt;
}

}  // namespace monomorph::distributed
