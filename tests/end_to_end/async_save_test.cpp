// Checkpoints that are written while the steps go on.
#include "programs.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

using namespace monomorph::testing;

namespace {

const std::vector<std::string> often{"run.steps=12", "checkpoint.every=1", "checkpoint.keep=all",
                                     "evaluation.at_end=false"};
const std::string behind = "checkpoint.async_save=on", waited_for = "checkpoint.async_save=off";

/// That two runs have saved the same checkpoints, all files but the description of the run in the same bytes.
void check_equal_checkpoints(const std::string& run, const std::string& other) {
  const std::vector<std::string> names = checkpoints_of(run);
  CHECK(checkpoints_of(other) == names);
  for (const std::string& name : names) {
    const std::string here = run + "/checkpoints/" + name, there = other + "/checkpoints/" + name;
    CAPTURE(here, there);
    CHECK(state_of(here) == state_of(there));
    for (const auto& entry : std::filesystem::directory_iterator(here)) {
      const std::string file = entry.path().filename();
      if (file != "metadata.json") CHECK(read_bytes(here + "/" + file) == read_bytes(there + "/" + file));
    }
  }
}

}  // namespace

TEST_CASE("checkpoints behind the steps have the bytes of those that steps wait for, and change no bit of a run") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("waiting", with(often, {waited_for})).exit_code == 0);
  REQUIRE(place.train("behind", with(often, {behind})).exit_code == 0);
  CHECK(checkpoints_of(place / "behind").size() == 12);
  check_equal_checkpoints(place / "waiting", place / "behind");
  CHECK(metric(place / "waiting", "loss") == metric(place / "behind", "loss"));
  CHECK(metric(place / "waiting", "grad_norm") == metric(place / "behind", "grad_norm"));
}

TEST_CASE("ranks save behind the steps what they save when steps wait") {
  const Workplace place("tiny_gpt2_fsdp");
  REQUIRE(train_on(place, 2, "waiting", with(often, {waited_for})).exit_code == 0);
  REQUIRE(train_on(place, 2, "behind", with(often, {behind})).exit_code == 0);
  check_equal_checkpoints(place / "waiting", place / "behind");
}

TEST_CASE("a signal while checkpoints are written behind the steps leaves all of them whole, and the run goes on") {
  const Workplace place("tiny_gpt2");
  std::mt19937 random(5);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    const std::int64_t saved = last_saved_step(place / "run");
    Process run(command(place, place.training("run", {"run.steps=1000000", "checkpoint.every=1",
                                                      "checkpoint.resume=auto", behind})));
    REQUIRE(wait_for_save(place / "run", saved + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    run.signal(round == 1 ? SIGINT : SIGTERM);
    const ProcessResult result = run.wait();
    CHECK(result.exit_code == 0);
    CHECK(checkpoints_of(place / "run").size() == 2);  // and nothing that a save has left
    CHECK(last_saved_step(place / "run") == last_step(result.out));
    for (const std::string& name : checkpoints_of(place / "run"))
      CHECK(run_program("monomorph-checkpoint", {"verify", place / "run/checkpoints/" + name}).exit_code == 0);
  }
}

TEST_CASE("a best that could not be saved keeps no later one out") {
  const Workplace place("tiny_gpt2");
  // Nothing is learnt: every evaluation is as good as the first, so that it is the best only while none is saved.
  const std::vector<std::string> sets{"run.steps=13",
                                      "optimizer.lr=0",
                                      "evaluation.every=4",
                                      "evaluation.at_end=false",
                                      "checkpoint.every=6",
                                      "checkpoint.keep_best=true",
                                      "checkpoint.on_failure=continue",
                                      "log.tensorboard=false"};
  for (const std::string ranks : {"1", "2"})
    for (const std::string& how : {behind, waited_for}) {
      CAPTURE(ranks, how);
      const std::string name = how + ranks;
      const Arguments training = with(Arguments{"--ranks", ranks}, place.training(name, with(sets, {how})));
      const ProcessResult run = run_process(
          with(Arguments{"bash", "-c", "ulimit -f 150 && exec \"$@\"", "bash"}, command(place, training)));  // in KiB
      CAPTURE(run.out, run.err);
      CHECK(run.exit_code == 1);  // as the last checkpoint can't be written either
      CHECK(contains(run.err, "[FILE-06]"));
      const auto losses = metric(place / name, "evaluation_loss");
      CHECK((losses.size() == 3 && losses.at(4) == losses.at(12)));
      for (const char* step : {"4", "6", "8", "12"})
        CHECK(contains(run.out, std::string("[CHECKPOINT-21] the checkpoint of step ") + step + " is not saved"));
    }
}

TEST_CASE("a run may go on where checkpoints can't be saved, says so, and must save the last one") {
  const Workplace place("tiny_gpt2");
  for (const std::string& how : {behind, waited_for}) {
    CAPTURE(how);
    const std::string run = place / how, disk = place / ("disk of " + how);
    std::filesystem::create_directory(disk);
    // There is room for two checkpoints and no more.
    const std::string script =
        "mount -t tmpfs -o size=1200k tmpfs \"$1\" || exit 77\n"
        "disk=$1\n"
        "shift\n"
        "\"$@\"\n"
        "code=$?\n"
        "\"$VERIFY\" verify \"$disk/checkpoints\" || exit 78\n"
        "ls -A \"$disk/checkpoints\"\n"
        "exit $code\n";
    const Arguments arguments =
        with(Arguments{"unshare", "--map-root-user", "--mount", "bash", "-c", script, "bash", disk},
             command(place, place.training(how, {"run.steps=14", "log.every=1", "checkpoint.every=3",
                                                 "checkpoint.keep=all", "checkpoint.directory=" + disk + "/checkpoints",
                                                 "checkpoint.on_failure=continue", how})));
    const ProcessResult result = run_process(arguments, {{"VERIFY", program("monomorph-checkpoint")}});
    if (result.exit_code == 77 || contains(result.err, "unshare"))
      MONOMORPH_SKIP("this machine does not allow mounting a small disk");
    CAPTURE(result.out);
    check_refusal(result, 1, {"[FILE-02]", "the disk is full"});
    for (const char* step : {"9", "12"})
      CHECK(contains(result.out, std::string("warning: [CHECKPOINT-21] the checkpoint of step ") + step +
                                     " is not saved, and the run goes on: [FILE-02] "));
    CHECK(contains(result.out, "step_00000006: complete"));
    CHECK(result.out.ends_with("step_00000003\nstep_00000006\n"));  // nothing half-written
    const auto failed = metric_values(run, "failed_saves");
    CHECK(failed.at(9) == 0);
    CHECK(failed.at(13) >= 1);
  }
}
