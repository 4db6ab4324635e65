// Several ranks, as processes that meet over the network of this machine.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>

using namespace monomorph::testing;

namespace {

/// One thread each, as there may be more ranks than cores.
const Process::Environment one_thread{{"OMP_NUM_THREADS", "1"}};

ProcessResult train_on(const Workplace& place, int ranks, const std::string& name, std::vector<std::string> sets = {}) {
  sets.insert(sets.end(), {"batch.micro_batch=1", "batch.reduction=fixed_tree"});
  Arguments arguments = place.training(name, sets);
  arguments.insert(arguments.end(), {"--ranks", std::to_string(ranks)});
  return place.run(arguments, one_thread);
}

/// Starts one rank as a launcher does that says where the ranks meet.
Process rank_of_two(const Workplace& place, int rank, const Arguments& arguments, const std::string& port) {
  Arguments command{program(place.recipe())};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(command, {{"RANK", std::to_string(rank)},
                           {"WORLD_SIZE", "2"},
                           {"LOCAL_WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "127.0.0.1"},
                           {"MASTER_PORT", port},
                           {"OMP_NUM_THREADS", "1"}});
}

}  // namespace

TEST_CASE(
    "with the fixed tree a run ends in the same bits on 1, 2 and 4 ranks, and when their number changes half-way") {
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama"}) {
    CAPTURE(recipe);
    const Workplace place(recipe);
    for (const int ranks : {1, 2, 4}) REQUIRE(train_on(place, ranks, "on" + std::to_string(ranks)).exit_code == 0);
    const std::string expected = final_state(place / "on1");
    CHECK(final_state(place / "on2") == expected);
    CHECK(final_state(place / "on4") == expected);
    CHECK(metric(place / "on4", "loss") == metric(place / "on1", "loss"));
    CHECK(metric(place / "on4", "evaluation/loss") == metric(place / "on1", "evaluation/loss"));

    REQUIRE(train_on(place, 4, "changing", {"run.steps=5", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 2, "changing", {"checkpoint.resume=auto", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 1, "unchanging", {"schedule.kind=constant"}).exit_code == 0);
    CHECK(final_state(place / "changing") == final_state(place / "unchanging"));
  }
}

TEST_CASE("what is wrong with several ranks is said before any of them starts, or by each of them") {
  const Workplace place("tiny_gpt2");
  check_refusal(train_on(place, 3, "run"), 2, {"[HPARAM-11]", "8", "1 x 3"});
  check_refusal(train_on(place, 3, "run", {"batch.global_batch=9"}), 2, {"[HPARAM-18]", "not 3", "take 2 or 4"});
  for (const auto& [variable, value] : Process::Environment{{"WORLD_SIZE", "many"}, {"SLURM_STEP_NUM_TASKS", "0"}})
    check_refusal(place.run(place.training("run"), {{variable, value}}), 2, {"[RANK-01]", variable, value});
  check_refusal(place.run(place.training("run"), {{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}), 2,
                {"[RANK-02]", "mpiexec", "MASTER_ADDR"});
  const ProcessResult alone =
      place.run(place.training("run", {"failure.rank_timeout=2"}),
                {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  check_refusal(alone, 1, {"[RANK-04]", "127.0.0.1:1", "MASTER_ADDR"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("ranks that were given other hyperparameters are named before the first step") {
  const Workplace place("tiny_gpt2");
  Process odd = rank_of_two(place, 1, place.training("run", {"batch.micro_batch=2", "optimizer.lr=0.5"}), "23451");
  Process first = rank_of_two(place, 0, place.training("run", {"batch.micro_batch=2"}), "23451");
  for (Process* rank : {&first, &odd})
    check_refusal(rank->wait(), 2, {"[RANK-06] rank 1 has other hyperparameters", "optimizer.lr is 0.5 there"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("SIGTERM to the ranks' parent saves and ends all of them") {
  const Workplace place("tiny_gpt2");
  Arguments command{program("tiny_gpt2")};
  for (const std::string& argument : place.training("run", {"run.steps=1000000", "batch.micro_batch=2"}))
    command.push_back(argument);
  command.insert(command.end(), {"--ranks", "2"});
  Process parent(command, one_thread);
  REQUIRE(parent.wait_for_output("step  "));
  parent.signal(15);
  const ProcessResult result = parent.wait();
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "saving after step"));
  CHECK(checkpoints_of(place / "run").size() == 1);
}
