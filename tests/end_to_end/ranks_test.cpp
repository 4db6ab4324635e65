// Several ranks, as processes that meet over the network of this machine.
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

using namespace monomorph::testing;

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
    CHECK(metric(place / "on4", "evaluation_loss") == metric(place / "on1", "evaluation_loss"));

    REQUIRE(train_on(place, 4, "changing", {"run.steps=5", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 2, "changing", {"checkpoint.resume=auto", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 1, "unchanging", {"schedule.kind=constant"}).exit_code == 0);
    CHECK(final_state(place / "changing") == final_state(place / "unchanging"));
  }
}

TEST_CASE("processes train as one does, without the fixed tree") {
  // That they do for a hundred steps under every strategy, with threads for ranks, is in distributed/ranked_*.
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama", "tiny_gpt2_fsdp"}) {
    const Workplace place(recipe);
    REQUIRE(train_on(place, 1, "on1", {"batch.reduction=any_order"}).exit_code == 0);
    const std::map<std::int64_t, double> expected = metric_values(place / "on1", "loss");
    REQUIRE(expected.size() == 12);
    for (const int ranks : {2, 4}) {
      CAPTURE(recipe, ranks);
      const std::string name = "on" + std::to_string(ranks);
      REQUIRE(train_on(place, ranks, name, {"batch.reduction=any_order"}).exit_code == 0);
      for (const auto& [step, loss] : metric_values(place / name, "loss"))
        CHECK(std::abs(loss / expected.at(step) - 1) < 1e-6);
    }
  }
}

TEST_CASE(
    "a group of ranks that is replicated trains as one rank does, and a number that it does not divide is refused") {
  const Workplace place("tiny_llama_hybrid");
  for (const int ranks : {1, 2, 4}) REQUIRE(train_on(place, ranks, "on" + std::to_string(ranks)).exit_code == 0);
  CHECK(final_state(place / "on2") == final_state(place / "on1"));
  CHECK(final_state(place / "on4") == final_state(place / "on1"));
  check_refusal(train_on(place, 3, "on3", {"batch.reduction=any_order", "batch.global_batch=9"}), 2,
                {"[RANK-17]", "1 x 1 x 1 x 2"});
}

TEST_CASE("what is wrong with several ranks is said before any of them starts, or by each of them") {
  const Workplace place("tiny_gpt2");
  check_refusal(train_on(place, 3, "run"), 2, {"[HPARAM-11]", "8", "1 x 3"});
  check_refusal(train_on(place, 3, "run", {"batch.global_batch=9"}), 2, {"[HPARAM-18]", "not 3", "take 2 or 4"});
  const Workplace once_per_step("tiny_gpt2_fsdp");
  check_refusal(train_on(once_per_step, 2, "run"), 2, {"[RANK-19]", "tiny_gpt2_fsdp", "ReduceOncePerStep"});
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
  const std::string port = free_port();
  Process odd(command(place, place.training("run", {"batch.micro_batch=2", "optimizer.lr=0.5"})),
              rank_environment(1, 2, port));
  Process first(command(place, place.training("run", {"batch.micro_batch=2"})), rank_environment(0, 2, port));
  for (Process* rank : {&first, &odd})
    check_refusal(rank->wait(), 2, {"[RANK-06] rank 1 has other hyperparameters", "optimizer.lr is 0.5 there"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("SIGTERM to the ranks' parent saves and ends all of them") {
  const Workplace place("tiny_gpt2");
  Arguments arguments = place.training("run", {"run.steps=1000000", "batch.micro_batch=2"});
  arguments.insert(arguments.end(), {"--ranks", "2"});
  Process parent(command(place, arguments), one_thread);
  REQUIRE(parent.wait_for_output("step  "));
  parent.signal(SIGTERM);
  const ProcessResult result = parent.wait();
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "saving after step"));
  CHECK(checkpoints_of(place / "run").size() == 1);
}

TEST_CASE("a rank that dies ends the other with its name, and a restart goes on from the last checkpoint") {
  for (const int victim : {1, 0}) {
    CAPTURE(victim);
    const Workplace place("tiny_gpt2");
    std::int64_t last = 0;
    {
      StartedRanks run(place, 2, {"run.steps=1000000", "failure.rank_timeout=20"});
      REQUIRE(run.ranks[0].wait_for_output("step      12"));
      run.ranks[victim].signal(SIGKILL);
      check_lost_rank(run.ranks[1 - victim].wait(), victim,
                      victim == 0 ? "meeting point does not answer" : "no word from rank 1");
      last = last_step(run.ranks[0].out());
    }
    REQUIRE(last >= 12);
    const std::string steps = "run.steps=" + std::to_string(last + 3);
    StartedRanks restarted(place, 2, {steps});
    for (const ProcessResult& result : restarted.wait()) CHECK(result.exit_code == 0);
    CHECK(resumed_after(restarted.ranks[0].out()).value() >= last - 5);
  }
}

TEST_CASE("ranks killed at random moments, in saves too, lose no more than the steps since the last checkpoint") {
  const Workplace place("tiny_gpt2");
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const bool while_starting = round == 2;  // perhaps
    const std::int64_t saved = last_saved_step(place / "run");
    StartedRanks run(place, 2,
                     {"run.steps=1000000", "checkpoint.every=1",
                      while_starting ? "failure.rank_timeout=3" : "failure.rank_timeout=20"});
    if (!while_starting) REQUIRE(wait_for_save(place / "run", saved + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % (while_starting ? 1600 : 400)));
    const int victim = static_cast<int>(random() % 2);
    run.ranks[victim].signal(SIGKILL);
    CHECK(run.ranks[1 - victim].wait().exit_code == 1);
    CHECK(checkpoints_of(place / "run").size() <= 3);  // two to keep, and what a save has left
  }
  const std::int64_t last = last_saved_step(place / "run");
  REQUIRE(last > 0);
  StartedRanks end(place, 2, {"run.steps=" + std::to_string(last + 4)});
  for (const ProcessResult& result : end.wait()) REQUIRE(result.exit_code == 0);
  CHECK(final_state(place / "run") == undisturbed_state(place, last + 4));
}

TEST_CASE("check knows what each of several ranks needs, and tries their collectives") {
  const Workplace place("tiny_llama");
  const Arguments training = place.training("run", {"batch.micro_batch=1"});
  Arguments check{"check"};
  check.insert(check.end(), training.begin(), training.end());
  check.insert(check.end(), {"--ranks", "4"});
  const ProcessResult planned = place.run(check);
  CHECK(planned.exit_code == 0);
  CHECK(contains(planned.out, "on each of 4 ranks"));
  check.push_back("--collectives");
  const ProcessResult tried = place.run(check, one_thread);
  CAPTURE(tried.out, tried.err);
  CHECK(tried.exit_code == 0);
  for (const std::string part :
       {"4 ranks, every result right", "reduction of gradients among", "slowest pair: ranks", "GB/s"})
    CHECK(contains(tried.out, part));
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("a trace has the compute of every unit and the collectives on rows of their own, for each rank") {
  const Workplace place("tiny_llama");
  Arguments arguments = place.training("run", {"batch.micro_batch=2", "run.steps=5"});
  arguments.insert(arguments.end(), {"--ranks", "2", "--trace", "steps=2"});
  const ProcessResult result = place.run(arguments, one_thread);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.out, "traced steps 2 to 3"));
  CHECK(contains(result.out, "% of the collectives' time was hidden behind compute"));
  for (const std::string rank : {"0", "1"}) {
    const auto trace = nlohmann::json::parse(read_bytes(place / ("run/trace_rank_0000" + rank + ".json")));
    std::map<std::string, int> counts;
    for (const auto& event : trace.at("traceEvents")) {
      ++counts[event.at("name").get<std::string>()];
      CHECK(event.at("pid") == std::stoi(rank));
      if (event.at("ph") == "X") CHECK(event.at("dur").get<double>() >= 0);
    }
    for (const std::string name : {"forward 1", "forward 2", "backward 1", "backward 2"}) CHECK(counts[name] == 4);
    for (const std::string name : {"update 0", "update 1"}) CHECK(counts[name] == 2);
    CHECK(counts["gather 1"] >= 1);  // that of the first traced step began before it
    CHECK(counts["reduce 1"] >= 2);
  }
  check_refusal(place.run({"--trace", "3"}), 2, {"[RUN-13]", "steps=N"});
}
