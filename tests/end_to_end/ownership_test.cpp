// A run folder belongs to one run at a time, and what a run leaves of another branch of it is no checkpoint of its own.
#include "programs.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> endless{"run.steps=1000000", "evaluation.at_end=false", "schedule.kind=constant"};

/// A run that has begun and goes on until it is told to end.
class RunningRun : public Process {
 public:
  RunningRun(const Workplace& place, const std::vector<std::string>& sets)
      : Process(with(Arguments{program(place.recipe())}, place.training("run", sets))) {
    REQUIRE(wait_for_output("step       2/"));
  }
};

}  // namespace

TEST_CASE("of two starts at once in one folder one trains, the other ends in a line that names it") {
  const Workplace place("tiny_gpt2");
  for (const std::string resume : {"none", "auto"}) {
    CAPTURE(resume);
    std::deque<Process> starts;
    for (const std::string seed : {"1", "2"})
      starts.emplace_back(with(Arguments{program("tiny_gpt2")},
                               place.training("run", {"run.steps=300", "run.seed=" + seed,
                                                      "checkpoint.resume=" + resume, "evaluation.at_end=false"})));
    ProcessResult first = starts[0].wait(), second = starts[1].wait();
    if (first.exit_code != 0) std::swap(first, second);
    CHECK(first.exit_code == 0);
    CHECK(first.err.empty());
    check_refusal(second, 2, {"[RUN-19]", place / "run", "process ", " UTC", "run.wait_for_folder"});
    CHECK(metric(place / "run", "loss").size() == 300);  // fails if a step is there twice
    fs::remove_all(place / "run");
  }
}

TEST_CASE("a start in the folder of a run that goes on changes nothing: by resume, check, ranks, or its checkpoints") {
  const Workplace place("tiny_gpt2");
  RunningRun run(place, endless);
  const std::string resume = "checkpoint.resume=auto";
  check_refusal(place.train("run", {resume}), 2, {"[RUN-19]", "run.output_dir"});
  check_refusal(place.run(with(Arguments{"check"}, place.training("run", {resume}))), 2, {"[RUN-19]"});
  const ProcessResult ranks = train_on(place, 2, "run", {resume});
  CHECK(ranks.exit_code == 2);
  CHECK(contains(ranks.err, "[RUN-19]"));
  CHECK(contains(ranks.err, "[RANK-08] rank 0 could not take the run's folders"));  // and waits for nothing
  check_refusal(place.train("other", {"checkpoint.directory=" + (place / "run/checkpoints")}), 2,
                {"[RUN-19]", "checkpoint.directory"});
  CHECK_FALSE(fs::exists(place / "other"));
  run.signal(SIGINT);
  const ProcessResult ended = run.wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK_FALSE(fs::exists(place / "run/.owner"));
}

TEST_CASE("a requeued job waits for the run that has its folder, and goes on from its end") {
  const Workplace place("tiny_gpt2");
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    RunningRun run(place, endless);
    Arguments next = place.training("run", {"checkpoint.resume=auto", "run.wait_for_folder=100", "run.steps=1000000",
                                            "failure.rank_timeout=4", "batch.micro_batch=1"});
    Process waiting(with(Arguments{program("tiny_gpt2"), "--ranks", std::to_string(ranks)}, next));
    REQUIRE(waiting.wait_for_output("waiting to learn whether a run has ended that has run.output_dir"));
    std::this_thread::sleep_for(std::chrono::seconds(6));  // longer than ranks wait for each other
    CHECK_FALSE(contains(waiting.out(), "resumed"));
    run.signal(SIGTERM);
    CHECK(run.wait().exit_code == 0);
    const std::int64_t step = last_saved_step(place / "run");
    REQUIRE(waiting.wait_for_output("resumed after step " + std::to_string(step)));
    waiting.signal(SIGTERM);
    CHECK(waiting.wait().exit_code == 0);
    fs::remove_all(place / "run");
  }
}

TEST_CASE("a signal ends the wait for a folder") {
  const Workplace place("tiny_gpt2");
  RunningRun run(place, endless);
  for (const auto& [code, exit_code] : {std::pair{"0", 1}, std::pair{"75", 75}}) {
    Process waiting(with(Arguments{program("tiny_gpt2")},
                         place.training("run", {"checkpoint.resume=auto", "run.wait_for_folder=100",
                                                std::string("failure.exit_code_when_interrupted=") + code})));
    REQUIRE(waiting.wait_for_output("waiting to learn whether a run has ended that has run.output_dir"));
    waiting.signal(SIGTERM);
    check_refusal(waiting.wait(), exit_code, {"[RUN-20]", "signal 15", place / "run", "process "});
  }
}

TEST_CASE("a run that was killed leaves no owner behind, whatever its record says") {
  const Workplace place("tiny_gpt2");
  RunningRun run(place, with(endless, {"checkpoint.every=2"}));
  REQUIRE(wait_for_save(place / "run", 2));
  run.signal(SIGKILL);
  run.wait();
  REQUIRE(fs::exists(place / "run/.owner"));
  CHECK(place.train("run", {"checkpoint.resume=auto", "run.steps=12"}).exit_code == 0);
  CHECK_FALSE(fs::exists(place / "run/.owner"));
}

TEST_CASE("going on from an earlier checkpoint sets the later ones aside") {
  const Workplace place("tiny_gpt2");
  const std::string checkpoints = place / "run/checkpoints", step_6 = checkpoints + "/step_00000006";
  const std::vector<std::string> sets{"checkpoint.every=2", "checkpoint.keep=4", "evaluation.at_end=false"};
  REQUIRE(place.train("run", with(sets, {"run.steps=12"})).exit_code == 0);
  const std::string state_of_6 = state_of(step_6);
  for (int round = 1; round <= 2; ++round) {  // the same command again works as it did
    CAPTURE(round);
    const ProcessResult branch =
        place.train("run", {"checkpoint.resume=" + step_6, "run.steps=7", "run.seed=8", "checkpoint.keep=2"});
    CHECK(branch.exit_code == 0);
    const std::string aside = "abandoned_" + std::to_string(round);
    CHECK(contains(branch.out, aside));
    CHECK(checkpoints_of(place / "run").back() == "step_00000007");
    CHECK(state_of(step_6) == state_of_6);  // what it was resumed from is still there
    CHECK(metric(place / "run", "loss").rbegin()->first == 7);
    CHECK(contains(place.run({"evaluate", "--checkpoint", place / "run"}).out, "loss"));
    CHECK(contains(place.train("run", {"checkpoint.resume=auto", "run.steps=7"}).out, "resumed after step 7"));
  }
  const auto entries = [&](const std::string& folder) { return n_entries(checkpoints + "/" + folder); };
  CHECK(entries("abandoned_1") == 3);  // steps 8, 10, 12
  CHECK(entries("abandoned_2") == 1);  // step 7 of the first branch

  // The run's tokeniser is found from there, too.
  CHECK(contains(
      place.run({"generate", "--max-tokens", "3", "--prompt", "a", "--checkpoint", checkpoints + "/abandoned_1"}).out,
      "a"));
  // An abandoned branch is gone on from in a folder of its own.
  const std::string step_12 = checkpoints + "/abandoned_1/step_00000012";
  check_refusal(place.train("run", {"checkpoint.resume=" + step_12}), 2, {"[RUN-01]", "another run.output_dir"});
  CHECK(place.train("other", with(sets, {"checkpoint.resume=" + step_12, "run.steps=13"})).exit_code == 0);
}

TEST_CASE("what a run was resumed from stays until the run has saved one of its own") {
  const Workplace place("tiny_gpt2");
  const std::string step_4 = place / "run/checkpoints/step_00000004";
  REQUIRE(place.train("run", {"run.steps=12", "checkpoint.every=4", "checkpoint.keep=3"}).exit_code == 0);
  REQUIRE(place.train("run", {"run.steps=4", "checkpoint.resume=" + step_4, "checkpoint.keep=1"}).exit_code == 0);
  CHECK(fs::exists(step_4));
  REQUIRE(place.train("run", {"run.steps=5", "checkpoint.resume=" + step_4, "checkpoint.keep=1"}).exit_code == 0);
  CHECK_FALSE(fs::exists(step_4));
}

TEST_CASE("a new run does not begin among the checkpoints of another") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=4"}).exit_code == 0);
  const std::string there = "checkpoint.directory=" + (place / "run/checkpoints");
  check_refusal(place.train("other", {there}), 2, {"[RUN-01]", place / "run/checkpoints", "checkpoints of a run"});
  CHECK_FALSE(fs::exists(place / "other"));
  CHECK(checkpoints_of(place / "run") == std::vector<std::string>{"step_00000004"});
}

TEST_CASE("a run folder that is removed or moved during a run is noticed, made anew and saved into") {
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    const Workplace place("tiny_gpt2");
    const std::vector<std::string> sets = with(endless, {"batch.micro_batch=1", "log.every=1000000"});
    Process run(with(Arguments{program("tiny_gpt2"), "--ranks", std::to_string(ranks)}, place.training("run", sets)));
    REQUIRE(run.wait_for_output("step       1/"));
    fs::rename(place / "run", place / "moved");
    REQUIRE(run.wait_for_output("[RUN-22]"));
    REQUIRE(wait_for_save(place / "run", 1));  // at once: no checkpoint is due
    for (const std::string name : {"hparams.json", "recipe.txt", "run.json", "tokenizer.json", "metrics.jsonl"})
      CHECK(fs::exists(place / "run/" + name));
    const std::int64_t saved_at_once = last_saved_step(place / "run");
    run.signal(SIGTERM);
    const ProcessResult ended = run.wait();
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
    // The signal may have come before another step was done.
    const std::int64_t saved_at_end = last_saved_step(place / "run");
    CHECK(saved_at_end >= saved_at_once);
    CHECK(contains(ended.out, "saving after step " + std::to_string(saved_at_end) + "\n"));
    const std::string steps = "run.steps=" + std::to_string(saved_at_end + 2);
    CHECK(place.train("run", {"checkpoint.resume=auto", "batch.micro_batch=1", steps}).exit_code == 0);
  }
}

TEST_CASE("a best that was removed with the run's folder keeps no later one out") {
  const Workplace place("tiny_gpt2");
  constexpr std::int64_t every = 50;
  const std::vector<std::string> keeping{"optimizer.lr=0", "log.every=1000000", "evaluation.every=50",
                                         "evaluation.batches=1", "checkpoint.keep_best=true"};
  Process run(with(Arguments{program("tiny_gpt2")}, place.training("run", with(endless, keeping))));
  REQUIRE(wait_for_save(place / "run", 1));
  fs::rename(place / "run", place / "moved");
  REQUIRE(run.wait_for_output("[RUN-22]"));
  // No later evaluation is better, as nothing is learned.
  CHECK(wait_until(std::chrono::minutes(1), [&] {
    return std::ranges::any_of(checkpoints_of(place / "run"), [](const std::string& name) {
      constexpr std::string_view prefix = "step_";
      return name.starts_with(prefix) && std::stoll(name.substr(prefix.size())) % every == 0;
    });
  }));
  run.signal(SIGTERM);
  CHECK(run.wait().exit_code == 0);
}

TEST_CASE("a run folder that is moved away again and again, during saves, too, ends no run") {
  const Workplace place("tiny_gpt2");
  const std::vector<std::string> sets = with(endless, {"checkpoint.every=1", "log.every=1000000"});
  for (const std::string ranks : {"1", "2"}) {
    CAPTURE(ranks);
    Process run(with(Arguments{program("tiny_gpt2"), "--ranks", ranks}, place.training("run", sets)));
    for (int i = 0; i < 12; ++i) {
      CAPTURE(i);
      REQUIRE(wait_for_save(place / "run", 1));
      fs::rename(place / "run", place / ("moved_" + ranks + "_" + std::to_string(i)));
      REQUIRE(run.wait_for_output("[RUN-22]"));
    }
    run.signal(SIGTERM);
    CHECK(run.wait().exit_code == 0);
    fs::remove_all(place / "run");
  }
}

TEST_CASE("a run folder that is moved away while it is being made anew is begun again, and ends no run") {
  const Workplace place("tiny_gpt2");
  const std::vector<std::string> sets = with(endless, {"checkpoint.every=1", "log.every=1000000"});
  Process run(with(Arguments{program("tiny_gpt2")}, place.training("run", sets)));
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    // Now and then it is left alone, as a run gives up folders that are moved again and again for ever.
    if (i % 4 == 0) REQUIRE(wait_for_save(place / "run", 1));
    REQUIRE(wait_until(std::chrono::minutes(1), [&] { return fs::exists(place / "run"); }));
    std::this_thread::sleep_for(std::chrono::microseconds(50) * i);  // another moment of it each time
    fs::rename(place / "run", place / ("moved_" + std::to_string(i)));
  }
  REQUIRE(wait_for_save(place / "run", 1));
  run.signal(SIGTERM);
  const ProcessResult ended = run.wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
}

TEST_CASE("files of a run that are removed are noticed, though its folder stays") {
  const Workplace place("tiny_gpt2");
  const Arguments here = place.training("run", with(endless, {"checkpoint.directory=.", "log.every=1000000"}));
  Process run(with(Arguments{program("tiny_gpt2")}, here));
  REQUIRE(run.wait_for_output("step       1/"));
  for (const std::string name : {"hparams.json", "metrics.jsonl"}) fs::remove(place / "run/" + name);
  REQUIRE(run.wait_for_output("[RUN-22]"));
  for (const std::string name : {"hparams.json", "metrics.jsonl"}) CHECK(fs::exists(place / "run/" + name));
  run.signal(SIGTERM);
  CHECK(run.wait().exit_code == 0);
}

TEST_CASE("a folder that can't be made anew is tried again until something must be saved") {
  const Workplace place("tiny_gpt2");
  Process run(with(Arguments{program("tiny_gpt2")}, place.training("run", with(endless, {"log.every=1000000"}))));
  REQUIRE(run.wait_for_output("step       1/"));
  fs::rename(place / "run", place / "moved");
  write_bytes(place / "run", "a file of the user");
  REQUIRE(run.wait_for_output("can't be made anew yet"));
  CHECK(read_bytes(place / "run") == "a file of the user");
  fs::remove(place / "run");
  REQUIRE(run.wait_for_output("[RUN-22]"));
  REQUIRE(wait_for_save(place / "run", 1));
  fs::rename(place / "run", place / "moved_too");
  write_bytes(place / "run", "a file of the user");
  run.signal(SIGTERM);
  const ProcessResult ended = run.wait();
  check_refusal(ended, 1, {"[RUN-02]", "run.output_dir"});
  CHECK(read_bytes(place / "run") == "a file of the user");
}

TEST_CASE("two runs in one folder by different names are seen to be") {
  const Workplace place("tiny_gpt2");
  fs::create_directories(place / "elsewhere/deeper");
  fs::create_directory_symlink(place / "elsewhere/deeper", place / "link");
  RunningRun run(place, with(endless, {"run.output_dir=" + (place / "link/../real")}));
  check_refusal(place.train("other", {"run.output_dir=" + (place / "elsewhere/real"), "checkpoint.resume=auto"}), 2,
                {"[RUN-19]"});
  run.signal(SIGTERM);
  CHECK(run.wait().exit_code == 0);
  CHECK(checkpoints_of(place / "elsewhere/real").size() == 1);
}

TEST_CASE("a run whose folder has become another's ends in a line, and changes nothing there") {
  const Workplace place("tiny_gpt2");
  RunningRun run(place, endless);
  fs::rename(place / "run", place / "moved");
  fs::create_directory(place / "run");
  write_bytes(place / "run/.owner", R"({"host": "node7", "process": 812, "since": "2026-11-22 10:39:00",)"
                                    R"( "machine": "m", "token": "theirs", "beats": "1"})");
  const ProcessResult ended = run.wait();
  CHECK(ended.exit_code == 1);
  CHECK(is_one_line(ended.err));
  CHECK(contains(ended.err, "[RUN-21]"));
  CHECK(contains(ended.err, "process 812 on node7"));
  CHECK(n_entries(place / "run") == 1);
}
