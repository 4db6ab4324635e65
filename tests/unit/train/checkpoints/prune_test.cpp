#include "saved_tensors.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <set>

using namespace monomorph;
using namespace monomorph::testing;

namespace {

std::vector<std::int64_t> steps_of(const std::vector<std::string>& paths) {
  std::vector<std::int64_t> steps;
  for (const std::string& path : paths) steps.push_back(std::stoll(path.substr(path.rfind('_') + 1)));
  return steps;
}
using Steps = std::vector<std::int64_t>;

void save_steps(const std::string& folder, const Steps& steps) {
  for (const std::int64_t step : steps) save_tensors(folder, {{"w", fp32_tensor({1})}}, step);
}

std::size_t n_checkpoints(const std::string& folder) { return n_entries(folder); }

}  // namespace

TEST_CASE("pruning keeps what the run's own retention keeps") {
  const Steps steps{10, 20, 30, 40, 50, 60};
  const std::map<std::int64_t, double> losses{{20, 1.5}, {40, 2.5}};
  const std::string loss = runtime::evaluation_loss_counter;
  const std::vector<std::optional<runtime::BestCounter>> bests{{}, {{.name = loss}}, {{.name = loss, .highest = true}}};
  for (const int latest : {1, 2, 9})
    for (const std::optional<std::int64_t> every : {std::optional<std::int64_t>(), std::optional<std::int64_t>(30)})
      for (const std::optional<runtime::BestCounter>& best : bests) {
        const TemporaryFolder folder;
        const auto save = [&](const std::string& name, std::int64_t step, const runtime::Retention& retention) {
          runtime::CheckpointMetadata metadata = metadata_of_step(step);
          if (losses.contains(step)) metadata.counters[runtime::evaluation_loss_counter] = losses.at(step);
          save_tensors(folder / name, {{"w", fp32_tensor({1})}}, metadata, retention);
        };
        const runtime::Retention retention{.latest = latest, .every = every, .best = best};
        for (const std::int64_t step : steps) save("all", step, {}), save("run", step, retention);
        const auto dry = runtime::prune_checkpoints(folder / "all", retention, true);
        CHECK(n_checkpoints(folder / "all") == 6);
        const auto pruned = runtime::prune_checkpoints(folder / "all", retention, false);
        CHECK(pruned.warnings.empty());
        CHECK(pruned.kept == dry.kept);
        CHECK(pruned.deleted == dry.deleted);
        CHECK(n_checkpoints(folder / "all") == pruned.kept.size());
        CHECK(n_checkpoints(folder / "run") == pruned.kept.size());
        for (const std::int64_t step : steps_of(pruned.kept))
          CHECK(std::filesystem::exists(folder / fmt::format("run/step_{:08}", step)));
      }
}

TEST_CASE("pruning leaves what cannot be loaded, and what belongs to no checkpoint") {
  const TemporaryFolder folder;
  save_steps(folder.path(), {1, 2, 3, 4});
  write_bytes(folder / "step_00000004/metadata.json", "{}");
  std::filesystem::create_directories(folder / "step_00000009");
  std::filesystem::create_directories(folder / "abandoned_1/step_00000008");
  const auto pruned = runtime::prune_checkpoints(folder.path(), {.latest = 1}, false);
  CHECK(steps_of(pruned.kept) == Steps{3});
  CHECK(steps_of(pruned.deleted) == Steps{2, 1});
  CHECK(n_entries(folder.path()) == 4);
  CHECK(contains(error_of([&] { runtime::prune_checkpoints(folder.path(), {.latest = 0}, true); }), "[CHECKPOINT-06]"));
}

TEST_CASE("pruning deletes what saves that were cut short have left") {
  const TemporaryFolder folder;
  save_steps(folder.path(), {1});
  const std::vector<std::string> left{".partial-step_00000002-0000abcd", ".trash-step_00000000"};
  for (const std::string& name : left) {
    std::filesystem::create_directories(folder / name);
    write_bytes(folder / (name + "/rank_00000.safetensors"), "cut short");
  }
  for (const bool only_say : {true, false}) {
    const auto pruned = runtime::prune_checkpoints(folder.path(), {.latest = 1}, only_say);
    CHECK(pruned.warnings.empty());
    CHECK(steps_of(pruned.kept) == Steps{1});
    CHECK(std::set<std::string>(pruned.deleted.begin(), pruned.deleted.end()) ==
          std::set<std::string>{folder / left[0], folder / left[1]});
    CHECK(n_entries(folder.path()) == (only_say ? 3 : 1));
  }
}

TEST_CASE("a checkpoint is found by its step in a folder of checkpoints and in a run folder") {
  const TemporaryFolder folder;
  save_steps(folder / "run/checkpoints", {3, 5});
  for (const std::string name : {"run", "run/checkpoints"}) {
    CHECK(std::filesystem::path(runtime::find_checkpoint(folder / name, 3)).filename() == "step_00000003");
    CHECK(std::filesystem::path(runtime::find_checkpoint(folder / name, std::nullopt)).filename() == "step_00000005");
    CHECK(contains(error_of([&] { runtime::find_checkpoint(folder / name, 4); }), "no checkpoint of step 4"));
    CHECK(std::filesystem::equivalent(runtime::find_checkpoint_folder(folder / name), folder / "run/checkpoints"));
  }
  CHECK(contains(error_of([&] { runtime::find_checkpoint_folder(folder / "nowhere"); }), "[RUN-03]"));
}
