#include "ranks.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <regex>

namespace monomorph::testing {

ProcessResult train_on(const Workplace& place, int ranks, const std::string& name, std::vector<std::string> sets) {
  sets.insert(sets.begin(), {"batch.micro_batch=1", "batch.reduction=fixed_tree"});
  Arguments arguments = place.training(name, sets);
  arguments.insert(arguments.end(), {"--ranks", std::to_string(ranks)});
  return place.run(arguments, one_thread);
}

Process::Environment rank_environment(int rank, int n, const std::string& port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(n)},
          {"LOCAL_WORLD_SIZE", std::to_string(n)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port},
          {"OMP_NUM_THREADS", "1"}};
}

std::vector<std::string> restartable(std::vector<std::string> sets) {
  sets.insert(sets.end(), {"batch.micro_batch=2", "batch.reduction=fixed_tree", "schedule.kind=constant",
                           "checkpoint.resume=auto"});
  return sets;
}

StartedRanks::StartedRanks(const Workplace& place, int n, std::vector<std::string> sets) {
  sets.insert(sets.begin(), "checkpoint.every=5");
  const Arguments arguments = place.training("run", restartable(sets));
  const std::string port = free_port();
  for (int rank = 0; rank < n; ++rank) ranks.emplace_back(command(place, arguments), rank_environment(rank, n, port));
}

std::vector<ProcessResult> StartedRanks::wait() {
  std::vector<ProcessResult> results;
  for (Process& rank : ranks) results.push_back(rank.wait());
  return results;
}

std::string undisturbed_state(const Workplace& place, std::int64_t steps) {
  const ProcessResult result =
      place.run(place.training("undisturbed", restartable({"run.steps=" + std::to_string(steps)})), one_thread);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return final_state(place / "undisturbed");
}

void check_lost_rank(const ProcessResult& result, int missing, const std::string& known) {
  const std::string name = "rank " + std::to_string(missing);
  check_refusal(result, 1, {"[RANK-1", name, known, "checkpoint.resume=auto"});
  static const std::regex collective_and_moment(
      "while (the parameters of unit \\d+ were gathered|the gradients of unit \\d+ were reduced|a few numbers were "
      "added up), (in|saving the checkpoint of|completing a checkpoint after|evaluating after|before) step \\d+;");
  CHECK(std::regex_search(result.err, collective_and_moment));
}

std::int64_t last_step(const std::string& out) {
  const std::size_t found = out.rfind("\nstep ");
  return found == std::string::npos ? 0 : std::stoll(out.substr(found + 6));
}

std::int64_t last_saved_step(const std::string& run_folder) {
  std::int64_t last = 0;
  for (const std::string& name : checkpoints_of(run_folder))
    if (name.starts_with("step_")) last = std::max<std::int64_t>(last, std::stoll(name.substr(5)));
  return last;
}

bool wait_for_save(const std::string& run_folder, std::int64_t step) {
  return wait_until(std::chrono::minutes(1), [&] { return last_saved_step(run_folder) >= step; });
}

std::optional<std::int64_t> resumed_after(const std::string& out) {
  constexpr std::string_view words = "resumed after step ";
  const std::size_t found = out.rfind(words);
  return found == std::string::npos ? std::nullopt : std::optional(std::stoll(out.substr(found + words.size())));
}

}  // namespace monomorph::testing
