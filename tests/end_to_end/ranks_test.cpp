// Several ranks, as processes that meet over the network of this machine.
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

using namespace monomorph::testing;

TEST_CASE(
    "with the fixed tree a run ends in the same bits on 1, 2 and 4 ranks, and when their number changes half-way") {
  // Replicate, ShardGradOp, FullShard, HybridShard; FullShard with experts.
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama", "tiny_gpt2_fp16", "tiny_llama_hybrid", "tiny_mixture"}) {
    CAPTURE(recipe);
    const Workplace place(recipe);
    for (const int ranks : {1, 2, 4}) REQUIRE(train_on(place, ranks, "on" + std::to_string(ranks)).exit_code == 0);
    const std::string expected = final_state(place / "on1");
    CHECK(final_state(place / "on2") == expected);
    CHECK(final_state(place / "on4") == expected);
    CHECK(metric(place / "on4", "loss") == metric(place / "on1", "loss"));
    CHECK(metric(place / "on4", "evaluation_loss") == metric(place / "on1", "evaluation_loss"));
    CHECK(metric_values(place / "on4", "auxiliary_loss") == metric_values(place / "on1", "auxiliary_loss"));
    CHECK(metric_values(place / "on1", "auxiliary_loss").empty() == (recipe != "tiny_mixture"));

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

TEST_CASE("a number of ranks that the group of a recipe's HybridShard does not divide is refused") {
  const Workplace place("tiny_llama_hybrid");
  check_refusal(train_on(place, 3, "on3", {"batch.reduction=any_order", "batch.global_batch=9"}), 2,
                {"[RANK-17]", "1 x 1 x 1 x 2"});
}

TEST_CASE("what is wrong with several ranks is said before any of them starts, or by each of them") {
  const Workplace place("tiny_gpt2");
  check_refusals(train_on(place, 3, "run"), 2, {{"[HPARAM-11]", "8", "1 x 3"}, {"[HPARAM-18]", "not 3"}});
  check_refusal(train_on(place, 3, "run", {"batch.global_batch=9"}), 2, {"[HPARAM-18]", "not 3", "take 2 or 4"});
  for (const auto& [variable, value] : Process::Environment{{"WORLD_SIZE", "many"}, {"SLURM_STEP_NUM_TASKS", "0"}})
    check_refusal(place.run(place.training("run"), {{variable, value}}), 2, {"[RANK-01]", variable, value});
  for (const auto& [has, lacks] :
       Process::Environment{{"RANK", "WORLD_SIZE"}, {"LOCAL_RANK", "WORLD_SIZE"}, {"WORLD_SIZE", "RANK"}})
    check_refusal(place.run(place.training("run"), {{has, "1"}}), 2,
                  {"[RANK-21]", lacks + " must be set", has + " = 1"});
  check_refusal(place.run(place.training("run"), {{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}), 2,
                {"[RANK-02]", "mpiexec", "MASTER_ADDR"});
  const ProcessResult alone =
      place.run(place.training("run", {"failure.rank_timeout=2"}),
                {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  check_refusal(alone, 1, {"[RANK-04]", "127.0.0.1:1", "MASTER_ADDR"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("a newcomer's hyperparameters train on any small number of ranks that can share the global batch") {
  const Workplace place("tiny_gpt2");
  const auto train = [&](const std::string& name, const Arguments& more) {
    const nlohmann::json json{{"run", {{"steps", 3}, {"output_dir", place / name}}},
                              {"data", {{"train", place / "train.pbin"}}}};
    write_bytes(place / (name + ".json"), json.dump());
    Arguments arguments{"--hparams", place / (name + ".json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return place.run(arguments, one_thread);
  };
  for (const auto& [ranks, micro_batch] : {std::pair{"1", 8}, {"2", 4}, {"4", 2}, {"8", 1}}) {
    const std::string name = std::string("on") + ranks;
    const ProcessResult result = train(name, {"--ranks", ranks});
    CAPTURE(ranks, result.err);
    CHECK(result.exit_code == 0);
    CHECK(nlohmann::json::parse(read_bytes(place / name + "/hparams.json"))["batch"]["micro_batch"] == micro_batch);
  }
  REQUIRE(train("given", {"--set", "batch.micro_batch=8"}).exit_code == 0);
  CHECK(final_state(place / "given") == final_state(place / "on1"));
  check_refusal(train("on3", {"--ranks", "3"}), 2,
                {"[HPARAM-11]", "batch.global_batch = 8", "change batch.global_batch to 6 or 9"});
  check_refusal(train("fixed", {"--ranks", "2", "--set", "batch.reduction=fixed_tree"}), 2,
                {"[HPARAM-11]", "change batch.micro_batch to 4"});
}

TEST_CASE("ranks that may open too few files and connections say so in one line each, or train") {
  const Workplace place("tiny_gpt2");
  int n_refused = 0, n_trained = 0;
  const auto limited = [&](int limit, const Arguments& arguments, const Process::Environment& environment) {
    return std::make_unique<Process>(bash("ulimit -n " + std::to_string(limit) + "; exec \"$@\"",
                                          command(place, arguments)),
                                     environment);
  };
  const auto check = [&](const ProcessResult& result, int limit) {
    CAPTURE(limit, result.exit_code, result.err);
    CHECK_FALSE(result.timed_out);
    const bool trained = result.exit_code == 0;
    ++(trained ? n_trained : n_refused);
    CHECK((trained ? result.err.empty() : is_one_line(result.err)));
  };
  const auto longest = std::chrono::seconds(40);
  const std::vector<std::string> sets{"batch.micro_batch=2", "run.steps=3", "failure.rank_timeout=3"};
  for (const int limit : {4, 7, 10, 14, 17, 21, 24, 64}) {
    const std::string run = "run_" + std::to_string(limit);
    Arguments local = place.training(run, sets);
    local.insert(local.end(), {"--ranks", "2"});
    check(limited(limit, local, one_thread)->wait(longest), limit);
    const std::string port = free_port();
    std::vector<std::unique_ptr<Process>> launched;
    for (int rank = 0; rank < 2; ++rank)
      launched.push_back(limited(limit, place.training(run + "_launched", sets), rank_environment(rank, 2, port)));
    for (const auto& rank : launched) check(rank->wait(longest), limit);
  }
  CHECK(n_trained >= 3);  // of the highest limit
  CHECK(n_refused >= 3 * 5);
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

TEST_CASE("SIGTERM to the ranks' parent, and once more at once, saves and ends all of them") {
  for (const int signals : {1, 2}) {
    const Workplace place("tiny_gpt2");
    Arguments arguments = place.training("run", {"run.steps=1000000", "batch.micro_batch=2"});
    arguments.insert(arguments.end(), {"--ranks", "2"});
    Process parent(command(place, arguments), one_thread);
    REQUIRE(parent.wait_for_output("step  "));
    for (int i = 0; i < signals; ++i) {
      parent.signal(SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const ProcessResult result = parent.wait();
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "signal 15: saving after step"));
    CHECK(checkpoints_of(place / "run").size() == 1);
  }
}

TEST_CASE("a launcher can tell a run that was interrupted from one that is finished by its exit code") {
  const Workplace place("tiny_gpt2");
  const auto exit_code = [&](const std::string& steps, const std::vector<std::string>& ranks, bool interrupts) {
    Arguments arguments =
        place.training("run", restartable({"run.steps=" + steps, "failure.exit_code_when_interrupted=75"}));
    arguments.insert(arguments.end(), ranks.begin(), ranks.end());
    Process run(command(place, arguments), one_thread);
    if (interrupts) {
      REQUIRE(run.wait_for_output("\nstep  "));
      run.signal(SIGTERM);
    }
    return run.wait().exit_code;
  };
  for (const std::vector<std::string>& ranks : {std::vector<std::string>{}, {"--ranks", "2"}})
    CHECK(exit_code("1000000", ranks, true) == 75);
  CHECK(exit_code(std::to_string(last_saved_step(place / "run") + 2), {}, false) == 0);
}

TEST_CASE("ranks that read another checkpoint by the same path are named before the first step") {
  const Workplace place("tiny_gpt2");
  for (const auto& [name, seed] : {std::pair{"run", "7"}, {"other", "8"}})
    REQUIRE(place.train(name, restartable({std::string("run.seed=") + seed})).exit_code == 0);
  const Arguments run = command(place, place.training("run", restartable({"run.steps=14"})));
  Arguments elsewhere{"unshare",
                      "--map-root-user",
                      "--mount",
                      "bash",
                      "-c",
                      R"(mount --bind "$1" "$2" || exit 77; shift 2; exec "$@")",
                      "bash",
                      place / "other/checkpoints",
                      place / "run/checkpoints"};
  if (run_process({elsewhere[0], elsewhere[1], elsewhere[2], "true"}).exit_code != 0)
    MONOMORPH_SKIP("a process may not have mounts of its own here");
  elsewhere.insert(elsewhere.end(), run.begin(), run.end());
  const std::string port = free_port();
  Process first(run, rank_environment(0, 2, port)), second(elsewhere, rank_environment(1, 2, port));
  for (Process* const rank : {&first, &second})
    check_refusal(rank->wait(), 1, {"[RANK-20] rank 1 would start from step 12", "checkpoint.directory"});
}

TEST_CASE("a rank that dies ends the other with its name, and a restart goes on from the last checkpoint") {
  // Behind the steps, the checkpoint in flight is lost, too.
  for (const auto& [victim, saving, most_lost] :
       {std::tuple{1, "checkpoint.async_save=off", 5}, {0, "checkpoint.async_save=on", 10}}) {
    CAPTURE(victim, saving);
    const Workplace place("tiny_gpt2");
    std::int64_t last = 0;
    {
      StartedRanks run(place, 2, {"run.steps=1000000", "failure.rank_timeout=20", saving});
      REQUIRE(run.ranks[0].wait_for_output("step      12"));
      run.ranks[victim].signal(SIGKILL);
      check_lost_rank(run.ranks[1 - victim].wait(), victim, "no word from rank " + std::to_string(victim));
      last = last_step(run.ranks[0].out());
    }
    REQUIRE(last >= 12);
    const std::string steps = "run.steps=" + std::to_string(last + 3);
    StartedRanks restarted(place, 2, {steps});
    for (const ProcessResult& result : restarted.wait()) CHECK(result.exit_code == 0);
    CHECK(resumed_after(restarted.ranks[0].out()).value() >= last - most_lost);
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
    // Two to keep, one more where the kill came before it was deleted, and what the next run had begun when it was
    // killed.
    CHECK(checkpoints_of(place / "run").size() <= 4);
  }
  const std::int64_t last = last_saved_step(place / "run");
  REQUIRE(last > 0);
  StartedRanks end(place, 2, {"run.steps=" + std::to_string(last + 4)});
  for (const ProcessResult& result : end.wait()) REQUIRE(result.exit_code == 0);
  CHECK(checkpoints_of(place / "run").size() == 2);
  CHECK(final_state(place / "run") == undisturbed_state(place, last + 4));
}

TEST_CASE("a restart goes on from an earlier checkpoint where a rank's part of the latest is damaged") {
  const Workplace place("tiny_llama");
  const auto auto_resume = [&](const std::string& run) { return train_on(place, 2, run, {"checkpoint.resume=auto"}); };
  REQUIRE(train_on(place, 2, "run", {"checkpoint.every=6"}).exit_code == 0);
  REQUIRE(train_on(place, 2, "single").exit_code == 0);
  const std::string state = final_state(place / "run");
  for (const std::string run : {"run", "single"}) {
    const std::string file = place / (run + "/checkpoints/step_00000012/rank_00001.safetensors");
    std::string bytes = read_bytes(file);
    bytes[bytes.size() / 2] ^= 1;
    write_bytes(file, bytes);
  }
  const ProcessResult earlier = auto_resume("run");
  CAPTURE(earlier.out, earlier.err);
  CHECK(earlier.exit_code == 0);
  CHECK(contains(earlier.err, "warning: [CHECKPOINT-05]"));
  CHECK(contains(earlier.out, "resumed after step 6"));
  CHECK(final_state(place / "run") == state);
  const ProcessResult none = auto_resume("single");
  CHECK(none.exit_code == 1);
  CAPTURE(none.err);
  CHECK(contains(none.err, "there is no earlier checkpoint"));
  CHECK(contains(none.err, "[RANK-08] rank 0 could not find an earlier checkpoint"));
  CHECK(!contains(none.err, "[CHECKPOINT-01]"));
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
  for (const std::string part : {"4 ranks, every result right", "gather of parameters, ranks 0, 1, 2, 3",
                                 "reduction of gradients, ranks 0, 1, 2, 3", "slowest pair: ranks", "GB/s"})
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
    for (const std::string unit : {" 0", " 1", " 2"}) {
      for (const std::string name : {"forward", "backward"}) CHECK(counts[name + unit] == 4);
      CHECK(counts["update" + unit] == 2);
    }
    CHECK(counts["gather 1"] >= 1);  // that of the first traced step began before it
    CHECK(counts["reduce 1"] >= 2);
    CHECK(counts["gradient norm"] == 2);
  }
  check_refusal(place.run({"--trace", "3"}), 2, {"[RUN-13]", "steps=N"});
}

TEST_CASE("ranks add up loss and norm in one collective a step, and metrics in one an interval of the log") {
  const Workplace place("tiny_llama");
  const auto sums_in_two_steps = [&](const std::string& log_every) {
    const std::string run = "every_" + log_every;
    Arguments arguments = place.training(run, {"batch.micro_batch=2", "run.steps=6", "log.every=" + log_every});
    arguments.insert(arguments.end(), {"--ranks", "2", "--trace", "steps=2"});
    REQUIRE(place.run(arguments, one_thread).exit_code == 0);
    const auto trace = nlohmann::json::parse(read_bytes(place / (run + "/trace_rank_00001.json")));
    return std::ranges::count_if(trace.at("traceEvents"), [](const auto& event) { return event.at("name") == "sum"; });
  };
  CHECK(sums_in_two_steps("6") == 2);
  CHECK(sums_in_two_steps("1") == 4);
}

TEST_CASE("a run that ends before its trace does leaves what was traced") {
  const Workplace place("tiny_llama");
  const auto traced = [&](int steps, const char* ranks) {
    const std::string run = "run_" + std::to_string(steps) + "_" + ranks;
    Arguments arguments =
        place.training(run, {"run.steps=" + std::to_string(steps), "schedule.warmup_steps=0", "batch.micro_batch=2"});
    arguments.insert(arguments.end(), {"--ranks", ranks, "--trace", "steps=3"});
    const ProcessResult result = place.run(arguments, one_thread);
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == 0);
    CHECK(std::filesystem::exists(place / (run + "/trace_rank_00000.json")) == (steps > 1));
    return result.out;
  };
  for (const char* const ranks : {"1", "2"}) {
    CHECK(contains(traced(1, ranks), "no step was traced"));
    CHECK(contains(traced(2, ranks), "traced step 2: "));
    CHECK(contains(traced(3, ranks), "traced steps 2 to 3: "));
    CHECK(contains(traced(4, ranks), "traced steps 2 to 4: "));
  }
}
