#pragma once
#include "programs.hpp"
#include "support/free_port.hpp"

#include <deque>
#include <optional>

/// Programs of several ranks, each with one thread, as there may be more ranks than cores.
namespace monomorph::testing {

inline const Process::Environment one_thread{{"OMP_NUM_THREADS", "1"}};

/// Trains on local ranks: one sequence at a time, to the same bits on any number of them.
ProcessResult train_on(const Workplace& place, int ranks, const std::string& name, std::vector<std::string> sets = {});

/// What a launcher says that names where the ranks meet: at a port of this machine.
Process::Environment rank_environment(int rank, int n, const std::string& port);

/// What makes a run start again from its latest checkpoint, and go to the same bits on any number of ranks.
std::vector<std::string> restartable(std::vector<std::string> sets);

/// Ranks of a restartable run into the folder "run", which saves after every fifth step.
struct StartedRanks {
  StartedRanks(const Workplace& place, int n, std::vector<std::string> sets);
  std::vector<ProcessResult> wait();
  std::deque<Process> ranks;
};

/// What a restartable run of so many steps ends in, trained by one rank that nothing disturbs.
std::string undisturbed_state(const Workplace& place, std::int64_t steps);

/// That a rank ended, and has said in one line in which collective and step another was missing, and what else is
/// known.
void check_lost_rank(const ProcessResult& result, int missing, const std::string& known);

/// The last step that a run's output tells of; 0 if none.
std::int64_t last_step(const std::string& out);
/// The step of the latest checkpoint; 0 if there is none.
std::int64_t last_saved_step(const std::string& run_folder);
/// Waits for a checkpoint of that step or a later one; false when a minute is over.
bool wait_for_save(const std::string& run_folder, std::int64_t step);
/// After which step a run has resumed, by its output; absent if it has not.
std::optional<std::int64_t> resumed_after(const std::string& out);

}  // namespace monomorph::testing
