#include "runtime/distributed/launch_environment.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <charconv>
#include <string_view>
#include <vector>

namespace monomorph::distributed {
namespace {

using Variable = std::function<const char*(const char*)>;

constexpr int default_port = 29'500;  // torchrun's

struct Launcher {
  const char *name, *size, *rank, *local_size, *local_rank;
};
constexpr Launcher torchrun{"torchrun", "WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK"},
    mpirun{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
           "OMPI_COMM_WORLD_LOCAL_RANK"},
    mpiexec{"mpiexec", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    srun{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"};
/// In the order in which they are looked for: one may have been started by the next.
constexpr const Launcher* launchers[] = {&torchrun, &mpirun, &mpiexec, &srun};

constexpr int most_ranks = 1 << 20;
constexpr const char* start_them = "start the ranks with a launcher (torchrun --no-python, srun, mpirun, --ranks N)";

std::string_view text_of(const Variable& variable, const char* name) {
  const char* const value = variable(name);
  return value == nullptr ? std::string_view() : value;
}

/// @param text the variable's value, or the part of it that is the number
int parse(const char* name, std::string_view text, int lowest, int highest) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
    throw UsageError("RANK-01", fmt::format("the environment variable {} must be {}, and is {}; {}", name,
                                            lowest == highest ? std::to_string(lowest)
                                                              : fmt::format("a number from {} to {}", lowest, highest),
                                            in_quotes(text), start_them));
  return value;
}

/// Absent if the variable is not set; set to nothing, it has no number.
std::optional<int> number(const Variable& variable, const char* name, int lowest, int highest) {
  const char* const text = variable(name);
  return text == nullptr ? std::nullopt : std::optional(parse(name, text, lowest, highest));
}

/// What a launcher's variables say, as far as they are set.
struct LauncherValues {
  std::optional<int> size, rank, local_size, local_rank;
};

/// Slurm has a list of tasks per node, which is as "4(x3),2". Its first number is an estimate for the other nodes.
std::optional<int> local_size_of(const Variable& variable, const Launcher& launcher, int highest) {
  if (&launcher != &srun || variable(launcher.local_size) == nullptr)
    return number(variable, launcher.local_size, 1, highest);
  const std::string_view list = variable(launcher.local_size);
  return parse(launcher.local_size, list.substr(0, list.find_first_of("(,")), 1, highest);
}

/// @throws UsageError [RANK-01] a number that can't be, by itself or beside the others
LauncherValues read(const Variable& variable, const Launcher& launcher) {
  LauncherValues values;
  values.size = number(variable, launcher.size, 1, most_ranks);
  const int ranks = values.size.value_or(most_ranks);
  values.rank = number(variable, launcher.rank, 0, ranks - 1);
  values.local_size = local_size_of(variable, launcher, ranks);
  const int local_ranks = &launcher == &srun ? ranks : values.local_size.value_or(ranks);
  values.local_rank = number(variable, launcher.local_rank, 0, local_ranks - 1);
  return values;
}

[[noreturn]] void refuse_half(const Variable& variable, const char* has, const char* lacks) {
  throw UsageError(
      "RANK-21",
      fmt::format("the environment variable {} must be set where {} = {} is; {}, or unset {} to train on one "
                  "rank",
                  lacks, has, text_of(variable, has), start_them, has));
}

/// @param half what `launcher` says, which lacks the number of ranks, or which of them this one is
[[noreturn]] void refuse_half(const Variable& variable, const Launcher& launcher, const LauncherValues& half) {
  const char* const has = half.size         ? launcher.size
                          : half.rank       ? launcher.rank
                          : half.local_rank ? launcher.local_rank
                                            : launcher.local_size;
  refuse_half(variable, has, half.size ? launcher.rank : launcher.size);
}

/// Checks that variables which a job script adds agree with those of the launcher.
void check_same(const Launcher& launcher, const LauncherValues& half, const Launcher& complete,
                const LauncherValues& whole) {
  const auto check = [](const char* name, std::optional<int> value, const char* other, std::optional<int> expected) {
    if (!value || !expected || *value == *expected) return;
    throw UsageError(
        "RANK-22",
        fmt::format("the environment variables {} = {} and {} = {} must say the same; unset {} or correct it", name,
                    *value, other, *expected, name));
  };
  check(launcher.size, half.size, complete.size, whole.size);
  check(launcher.rank, half.rank, complete.rank, whole.rank);
  check(launcher.local_rank, half.local_rank, complete.local_rank, whole.local_rank);
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
  if (found.launcher == srun.name)
    if (const std::string_view nodes = text_of(variable, "SLURM_STEP_NODELIST"); !nodes.empty())
      return first_host(nodes);
  const std::string_view local = text_of(variable, "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (found.launcher == mpirun.name && local == std::to_string(found.size)) return "127.0.0.1";
  throw UsageError(
      "RANK-02", fmt::format("{} says that there are {} ranks, and not where they meet; set MASTER_ADDR to the host of "
                             "rank 0 for all of them (and MASTER_PORT, if {} is taken there)",
                             found.launcher, found.size, default_port));
}

int port_of(const Variable& variable, const LaunchEnvironment& found) {
  if (const auto given = number(variable, "MASTER_PORT", 1, 65'535)) return *given;
  if (found.launcher == torchrun.name) refuse_half(variable, "MASTER_ADDR", "MASTER_PORT");
  if (found.launcher == srun.name)
    return port_of_job(fmt::format("{}.{}", text_of(variable, "SLURM_JOB_ID"), text_of(variable, "SLURM_STEP_ID")));
  if (const std::string_view job = text_of(variable, "PMIX_NAMESPACE"); !job.empty()) return port_of_job(job);
  return default_port;
}

/// @param values complete, and of several ranks
LaunchEnvironment environment_of(const Variable& variable, const Launcher& launcher, const LauncherValues& values) {
  LaunchEnvironment found;
  found.launcher = launcher.name;
  found.size = *values.size;
  found.rank = *values.rank;
  found.local_size = values.local_size.value_or(1);
  found.local_rank = values.local_rank.value_or(found.rank % found.local_size);  // as most launchers number them
  found.host = host_of(variable, found);
  found.port = port_of(variable, found);
  found.served_by_launcher = text_of(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  return found;
}

/// The launcher that has started this process: the first whose variables are complete.
struct Found {
  const Launcher* launcher;
  LauncherValues values;
};

bool is_none(const LauncherValues& values) {
  return !values.size && !values.rank && !values.local_size && !values.local_rank;
}
bool is_whole(const LauncherValues& values) { return values.size && values.rank; }

/// Slurm's variables as in a batch script, which runs as one process.
bool is_slurm_without_step(const Launcher& launcher, const LauncherValues& values) {
  return &launcher == &srun && !values.size && values.rank.value_or(0) == 0 && values.local_rank.value_or(0) == 0;
}

/// srun sets PMI's variables, too, for the ranks that it starts itself.
bool is_sruns(const Variable& variable, const Launcher& launcher, const LauncherValues& values) {
  if (&launcher != &mpiexec) return false;
  const LauncherValues slurms = read(variable, srun);
  return is_whole(slurms) && values.size == slurms.size && values.rank == slurms.rank;
}

/// If torchrun's variables say that there is one rank, and another launcher has started several, each of these would
/// train alone. Only torchrun itself starts a single rank on purpose.
void check_alone(const Variable& variable, const Found& found) {
  if (found.launcher != &torchrun || variable("TORCHELASTIC_RUN_ID") != nullptr) return;
  for (const Launcher* const launcher : launchers) {
    const LauncherValues values = read(variable, *launcher);
    if (launcher != found.launcher && is_whole(values)) check_same(*found.launcher, found.values, *launcher, values);
  }
}

}  // namespace

std::optional<LaunchEnvironment> read_launch_environment(const Variable& variable) {
  std::vector<Found> halves;
  std::optional<Found> found;
  for (const Launcher* const launcher : launchers) {
    const LauncherValues values = read(variable, *launcher);
    if (is_none(values) || is_slurm_without_step(*launcher, values) || is_sruns(variable, *launcher, values)) continue;
    if (is_whole(values)) {
      found = {launcher, values};
      break;
    }
    halves.push_back({launcher, values});
  }
  if (!found && !halves.empty()) refuse_half(variable, *halves.front().launcher, halves.front().values);
  for (const auto& [launcher, half] : halves) check_same(*launcher, half, *found->launcher, found->values);
  if (!found) return std::nullopt;
  if (*found->values.size == 1) {
    check_alone(variable, *found);
    return std::nullopt;
  }
  return environment_of(variable, *found->launcher, found->values);
}

}  // namespace monomorph::distributed
