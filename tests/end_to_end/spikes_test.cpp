// Steps whose loss is far above what is usual: here because the data turn into noise for a while.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <random>
#include <string>

namespace fs = std::filesystem;
using namespace monomorph::testing;

namespace {

constexpr int steps = 90, first_noisy = 60, n_noisy = 3;

/// A text that is soon learnt, with noise in the samples of some steps, which come in the order of the file.
class NoisyPlace : public Workplace {
 public:
  NoisyPlace() : Workplace("tiny_gpt2") {
    constexpr std::size_t tokens_of_step = 8 * 32;
    std::string text;
    while (text.size() < (steps + 20) * tokens_of_step) text += "the king is dead, long live the king; ";
    std::mt19937 random(5);
    for (std::size_t i = 0; i < n_noisy * tokens_of_step; ++i)
      text[(first_noisy - 1) * tokens_of_step + i] = static_cast<char>('!' + random() % 90);
    write_bytes(*this / "noisy.txt", text);
    REQUIRE(run_program("monomorph-data", {"pack", *this / "noisy.txt", "--tokenizer", *this / "tokenizer.json",
                                           "--output", *this / "noisy.pbin"})
                .exit_code == 0);
  }
  Arguments noisy_training(const std::string& name, const std::vector<std::string>& more) const {
    const std::vector<std::string> sets{"data.train=" + *this / "noisy.pbin",
                                        "data.shuffle=false",
                                        "run.steps=" + std::to_string(steps),
                                        "schedule.kind=constant",
                                        "optimizer.lr=0.003",
                                        "checkpoint.every=25",
                                        "batch.reduction=fixed_tree",
                                        "spikes.window=20"};
    return training(name, with(sets, more));
  }
  ProcessResult train_on_noise(const std::string& name, const std::vector<std::string>& more,
                               const Arguments& arguments = {}) const {
    return run(with(noisy_training(name, more), arguments));
  }
  /// A run that goes back behind the spike, from step 55 on, which it takes from a copy: so the latest checkpoint that
  /// it finds then is that of step 50. Those of some steps are damaged, which nobody has noticed yet.
  ProcessResult go_back_to_damage(const std::string& name, const std::vector<std::string>& damaged,
                                  const Arguments& arguments = {}) const {
    const std::vector<std::string> sets{"spikes.action=rewind", "spikes.most_rewinds=9", "checkpoint.keep=all"};
    REQUIRE(train_on_noise(name, with(sets, {"run.steps=55"}), arguments).exit_code == 0);
    const std::string checkpoints = *this / name + "/checkpoints/";
    fs::rename(checkpoints + "step_00000055", checkpoints + "copy");
    for (const std::string& step : damaged) {
      const std::string file = checkpoints + step + "/rank_00000.safetensors";
      std::string bytes = read_bytes(file);
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      write_bytes(file, bytes);
    }
    return train_on_noise(name, with(sets, {"checkpoint.resume=" + checkpoints + "copy"}), arguments);
  }
};

}  // namespace

TEST_CASE("a spike of the loss is skipped, and nothing of it stays in the model") {
  const NoisyPlace place;
  const ProcessResult none = place.train_on_noise("none", {}),
                      skip = place.train_on_noise("skip", {"spikes.action=skip"});
  REQUIRE(none.exit_code == 0);
  REQUIRE(skip.exit_code == 0);
  const auto usual = metric_values(place / "none", "loss"), guarded = metric_values(place / "skip", "loss"),
             skipped = metric_values(place / "skip", "skipped");
  for (int step = 1; step <= first_noisy; ++step) CHECK(guarded.at(step) == usual.at(step));
  CHECK(guarded.at(first_noisy) > 2 * guarded.at(first_noisy - 1));
  CHECK(skipped.at(first_noisy - 1) == 0);
  CHECK(skipped.at(steps) == n_noisy);
  CHECK(contains(skip.out, "step 60 is a spike and changes nothing: its "));
  const int behind = first_noisy + n_noisy;
  CHECK(guarded.at(behind) < 1.1 * guarded.at(first_noisy - 1));
  CHECK(usual.at(behind) > guarded.at(behind));
}

TEST_CASE("a run goes back to its checkpoint behind a spike, and on with the data behind it") {
  const NoisyPlace place;
  const ProcessResult run = place.train_on_noise("run", {"spikes.action=rewind"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "going back to step 50 by "));
  CHECK(metric_values(place / "run", "loss").rbegin()->first == steps);
  CHECK(metric_values(place / "run", "loss").size() == steps);  // no step is there twice
  CHECK(contains(final_state(place / "run"), "\"rewinds\":3"));

  // The same on two ranks, and of a run that is interrupted before the spike.
  REQUIRE(place.train_on_noise("on2", {"spikes.action=rewind"}, {"--ranks", "2"}).exit_code == 0);
  CHECK(final_state(place / "on2") == final_state(place / "run"));
  REQUIRE(place.train_on_noise("parts", {"spikes.action=rewind", "run.steps=55"}).exit_code == 0);
  REQUIRE(place.train_on_noise("parts", {"spikes.action=rewind", "checkpoint.resume=auto"}).exit_code == 0);
  CHECK(contains(final_state(place / "parts"), "\"rewinds\":3"));
}

TEST_CASE("the step that a run goes back to is not evaluated again") {
  const NoisyPlace place;
  const ProcessResult run = place.train_on_noise("run", {"spikes.action=rewind", "evaluation.every=25",
                                                         "evaluation.batches=1", "checkpoint.keep_best=true"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "going back to step 50 by "));
  std::vector<std::int64_t> evaluated;
  for (const auto& [step, loss] : metric(place / "run", "evaluation_loss")) evaluated.push_back(step);
  CHECK(evaluated == std::vector<std::int64_t>{25, 50, 75, steps});
}

TEST_CASE("what is evaluated behind a skipped step, which is not saved, does not take the best checkpoint's place") {
  const NoisyPlace place;
  const ProcessResult run =
      place.train_on_noise("run", {"spikes.action=skip", "run.steps=70", "data.evaluation=" + place / "noisy.pbin",
                                   "evaluation.every=20", "evaluation.at_end=false", "evaluation.batches=1",
                                   "checkpoint.every=1000", "checkpoint.keep=1", "checkpoint.keep_best=true"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "step 60 is a spike and changes nothing"));
  const auto losses = metric_values(place / "run", "evaluation_loss");
  REQUIRE(losses.at(60) < losses.at(40));
  CHECK(checkpoints_of(place / "run") == std::vector<std::string>{"step_00000040", "step_00000070"});
}

TEST_CASE("a run that spikes once more than it may go back ends, and one without a checkpoint skips") {
  const NoisyPlace place;
  check_refusal(place.train_on_noise("often", {"spikes.action=rewind", "spikes.most_rewinds=1"}), 1,
                {"[RUN-40]", "step 51 is a spike again after the run has gone back 1 times", "spikes.action=skip"});
  const ProcessResult never_saved =
      place.train_on_noise("never", {"spikes.action=rewind", "checkpoint.every=1000", "spikes.most_rewinds=1"});
  CHECK(never_saved.exit_code == 0);
  CHECK(contains(never_saved.out, "there is no checkpoint yet to go back to"));
}

TEST_CASE("a run that spikes once more than it may go back keeps the checkpoint that is being written") {
  const NoisyPlace place;
  for (const std::string ranks : {"1", "2"}) {
    CAPTURE(ranks);
    const ProcessResult run =
        place.train_on_noise("on" + ranks, {"spikes.action=rewind", "spikes.most_rewinds=0", "checkpoint.every=59"},
                             {"--ranks", ranks});
    CHECK(run.exit_code == 1);
    CHECK(contains(run.err, "[RUN-40]"));
    CHECK(checkpoints_of(place / "on" + ranks) == std::vector<std::string>{"step_00000059"});
  }
}

TEST_CASE("a run whose only checkpoint fails while it is to go back skips the spike and goes on") {
  const NoisyPlace place;
  const Arguments training = place.noisy_training("run", {"spikes.action=rewind", "checkpoint.every=59",
                                                          "checkpoint.on_failure=continue", "log.tensorboard=false"});
  const ProcessResult run = run_process(
      with(Arguments{"bash", "-c", "ulimit -f 150 && exec \"$@\"", "bash"}, command(place, training)));  // in KiB
  CAPTURE(run.out, run.err);
  CHECK(contains(run.out, "there is no checkpoint yet to go back to"));
  CHECK(metric_values(place / "run", "loss").rbegin()->first == steps);
  CHECK(run.exit_code == 1);  // as the last checkpoint cannot be written either
  CHECK(contains(run.err, "[FILE-06]"));
}

TEST_CASE("a run that goes back passes over a damaged checkpoint, on all ranks, and saves its step anew") {
  const NoisyPlace place;
  for (const std::string ranks : {"1", "2"}) {
    CAPTURE(ranks);
    const std::string name = "on" + ranks;
    const ProcessResult run = place.go_back_to_damage(name, {"step_00000050"}, {"--ranks", ranks});
    CAPTURE(run.out, run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(run.err.starts_with("warning: [CHECKPOINT-05] "));
    CHECK(contains(run.err, "step_00000050"));
    CHECK(contains(run.out, "going back to step 25 by "));
    CHECK(contains(run.out, "which this run does not go on from, are now in "));
    CHECK(fs::exists(place / name + "/checkpoints/abandoned_1/step_00000050"));
    CHECK(metric_values(place / name, "loss").rbegin()->first == steps);
    CHECK(metric_values(place / name, "loss").size() == steps);
    for (const char* step : {"25", "50", "75", "90"})
      CHECK(
          run_program("monomorph-checkpoint", {"verify", place / name + "/checkpoints/step_000000" + step}).exit_code ==
          0);
  }
  CHECK(final_state(place / "on2") == final_state(place / "on1"));
}

TEST_CASE("a run that must go back and has no checkpoint that is whole ends with a line that says so") {
  const NoisyPlace place;
  for (const std::string ranks : {"1", "2"}) {
    CAPTURE(ranks);
    const std::string name = "on" + ranks;
    const ProcessResult run = place.go_back_to_damage(name, {"step_00000025", "step_00000050"}, {"--ranks", ranks});
    CAPTURE(run.err);
    CHECK(run.exit_code == 1);
    CHECK(contains(run.err, "error: [CHECKPOINT-05] "));
    CHECK(contains(run.err, "step_00000025\" is damaged, and there is no earlier checkpoint in "));
    CHECK(checkpoints_of(place / name) == std::vector<std::string>{"copy", "step_00000025", "step_00000050"});
  }
}

TEST_CASE("the data of steps that are done again count for data.max_epochs, when a run goes back and when it resumes") {
  // 881 samples: 110 steps of 8.
  const NoisyPlace place;
  const std::vector<std::string> once{"data.max_epochs=1", "spikes.action=rewind"};
  check_refusal(place.train_on_noise("long", with(once, {"run.steps=105"})), 1,
                {"[DATA-60]", "can't go back to step 50", "takes 920", "data.max_epochs = 1", "spikes.action=skip"});
  const ProcessResult skips =
      place.train_on_noise("long", with(once, {"run.steps=105", "spikes.action=skip", "checkpoint.resume=auto"}));
  CHECK(skips.exit_code == 0);
  CHECK(contains(skips.out, "resumed after step 50"));

  REQUIRE(place.train_on_noise("run", once).exit_code == 0);
  CHECK(contains(final_state(place / "run"), "\"sample_counter\":816"));
  const auto resumed = [&](const std::string& n) {
    return place.train_on_noise("run", with(once, {"run.steps=" + n, "checkpoint.resume=auto"}));
  };
  check_refusal(resumed("100"), 2, {"[DATA-60]", "takes 896", "data.max_epochs = 1"});
  CHECK(resumed("98").exit_code == 0);
}
