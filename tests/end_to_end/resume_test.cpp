// A run that was interrupted, in whatever way, ends in the same bits as one that was not.
#include "programs.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

using namespace monomorph::testing;

namespace {

// The training text has some 90 (tiny_llama) or 187 (tiny_gpt2) samples and a step takes 8: several epochs.
const std::vector<std::string> to_the_end{"run.steps=36", "evaluation.at_end=false"};

/// Trains to the end in one go: what every other way must arrive at.
std::string uninterrupted(const Workplace& place) {
  REQUIRE(place.train("uninterrupted", to_the_end).exit_code == 0);
  return final_state(place / "uninterrupted");
}

void check_metrics_as_uninterrupted(const Workplace& place, const std::string& name) {
  // metric() fails if a step is there twice.
  CHECK(metric(place / name, "loss") == metric(place / "uninterrupted", "loss"));
  CHECK(metric(place / name, "grad_norm") == metric(place / "uninterrupted", "grad_norm"));
  CHECK(metric(place / name, "lr") == metric(place / "uninterrupted", "lr"));
}

/// There is a whole checkpoint: more than what a save left that was killed.
bool has_checkpoint(const std::string& run_folder) {
  return std::ranges::any_of(checkpoints_of(run_folder),
                             [](const std::string& name) { return name.starts_with("step_"); });
}

/// Interrupts a run by a signal in the middle, however slow or fast this machine is, then resumes it for some more
/// steps.
void check_signal(int number) {
  const Workplace place("tiny_gpt2");
  const std::vector<std::string> sets{"schedule.kind=constant", "evaluation.at_end=false"};
  Process running(with(Arguments{program(place.recipe())}, place.training("run", with(sets, {"run.steps=1000000"}))));
  REQUIRE(running.wait_for_output("step       2/"));
  running.signal(number);
  const ProcessResult stopped = running.wait();
  CAPTURE(stopped.err);
  CHECK(stopped.exit_code == 0);
  CHECK(stopped.err.empty());
  CHECK(contains(stopped.out, "signal " + std::to_string(number) + ": saving after step "));
  const std::vector<std::string> saved = checkpoints_of(place / "run");
  REQUIRE(saved.size() == 1);

  const std::string steps = "run.steps=" + std::to_string(std::stoll(saved[0].substr(5)) + 5),
                    resume = "checkpoint.resume=auto";
  const std::string checked = place.run(with(Arguments{"check"}, place.training("run", {resume}))).out;
  CHECK(contains(checked, "resumes from "));
  CHECK(contains(checked, "their checksums are compared when the run reads them"));
  REQUIRE(place.train("run", with(sets, {steps, resume})).exit_code == 0);
  REQUIRE(place.train("uninterrupted", with(sets, {steps})).exit_code == 0);
  CHECK(final_state(place / "run") == final_state(place / "uninterrupted"));
  check_metrics_as_uninterrupted(place, "run");
}

}  // namespace

TEST_CASE("k + m steps equal k steps, save, resume, m steps in every bit: tiny_gpt2, tiny_llama, tiny_mixture") {
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama", "tiny_mixture"}) {
    CAPTURE(recipe);
    const Workplace place(recipe);
    const std::string expected = uninterrupted(place);
    // Saved within an epoch, right behind its end, and before the last step; two micro-batches make a step.
    REQUIRE(place.train("run", with(to_the_end, {"checkpoint.every=5"})).exit_code == 0);
    CHECK(final_state(place / "run") == expected);
    CHECK(checkpoints_of(place / "run") == std::vector<std::string>{"step_00000035", "step_00000036"});

    const std::string step_35 = place / "run/checkpoints/step_00000035";
    REQUIRE(place.train("from_35", with(to_the_end, {"checkpoint.resume=" + step_35})).exit_code == 0);
    CHECK(final_state(place / "from_35") == expected);

    REQUIRE(place.train("early", with(to_the_end, {"checkpoint.every=4", "checkpoint.keep=all"})).exit_code == 0);
    const std::string step_12 = place / "early/checkpoints/step_00000012";
    REQUIRE(place.train("from_12", with(to_the_end, {"checkpoint.resume=" + step_12})).exit_code == 0);
    CHECK(final_state(place / "from_12") == expected);
  }
}

TEST_CASE("another seed than the checkpoint's is noted") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=4"}).exit_code == 0);
  const ProcessResult result = place.train("run", {"run.steps=5", "checkpoint.resume=auto", "run.seed=9"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "run.seed is 9, and was 7 when the checkpoint was saved"));
}

TEST_CASE("batch.micro_batch=auto goes on with the micro-batch of the checkpoint's run, in the same bits") {
  const Workplace place("tiny_gpt2");
  const std::vector<std::string> automatic = with(to_the_end, {"batch.micro_batch=auto"}),
                                 of_2 = with(to_the_end, {"batch.micro_batch=2"});
  const auto chosen = [](const std::string& text, const std::string& number) {
    return contains(text, "batch.micro_batch = " + number + " (auto: ");
  };
  REQUIRE(place.train("whole", of_2).exit_code == 0);
  REQUIRE(place.train("run", with(of_2, {"checkpoint.every=17", "checkpoint.keep=all"})).exit_code == 0);
  const std::string from = "checkpoint.resume=" + place / "run/checkpoints/step_00000017";
  CHECK(chosen(place.run(with(Arguments{"check"}, place.training("resumed", with(automatic, {from})))).out, "2"));
  const ProcessResult resumed = place.train("resumed", with(automatic, {from}));
  CHECK(resumed.exit_code == 0);
  CHECK(chosen(resumed.out, "2"));
  CHECK(final_state(place / "resumed") == final_state(place / "whole"));

  const ProcessResult afresh = place.train("afresh", automatic);
  CHECK(chosen(afresh.out, "8"));
  CHECK(contains(read_bytes(place / "afresh/hparams.json"), "\"micro_batch\": 8"));
  CHECK(contains(read_bytes(place / "afresh/recipe.txt"), "micro-batch 8"));
  CHECK(final_state(place / "afresh") != final_state(place / "whole"));
  CHECK_FALSE(contains(place.train("given", of_2).out, "auto"));
}

TEST_CASE("a mixture of two sets goes on in the same order, whatever the micro-batch that it is resumed with") {
  const Workplace place("tiny_gpt2");
  for (const std::string last_target : {"reused", "separate"}) {
    CAPTURE(last_target);
    const std::vector<std::string> sets =
        with(to_the_end, {R"(data.train=[{"path": ")" + place / "train.pbin" + R"(", "weight": 2}, {"path": ")" +
                              place / "held_out.pbin" + R"(", "weight": 1}])",
                          "data.last_target=" + last_target});
    const std::string whole = "whole_" + last_target, resumed = "resumed_" + last_target,
                      checkpoint = "checkpoint.resume=" + place / resumed + "/checkpoints/step_00000017";
    REQUIRE(place.train(whole, sets).exit_code == 0);
    REQUIRE(place.train(resumed, with(sets, {"checkpoint.every=17", "checkpoint.keep=all"})).exit_code == 0);
    REQUIRE(final_state(place / whole) == final_state(place / resumed));
    // The same numbers but for the order in which they are added up. Another order of samples is off by 0.01 and more.
    const auto expected = metric_values(place / whole, "loss");
    for (const std::string micro_batch : {"1", "2", "8"}) {
      const std::string name = resumed + micro_batch;
      REQUIRE(place.train(name, with(sets, {checkpoint, "batch.micro_batch=" + micro_batch})).exit_code == 0);
      const auto losses = metric_values(place / name, "loss");
      CHECK(losses.size() == 36 - 17);
      for (const auto& [step, loss] : losses) CHECK(loss == Approx(expected.at(step)).epsilon(1e-4));
    }
  }
}

TEST_CASE("Ctrl-C saves after the step and exits cleanly, the resumed run ends in the same bits") {
  check_signal(SIGINT);
}

TEST_CASE("SIGTERM saves after the step and exits cleanly, the resumed run ends in the same bits") {
  check_signal(SIGTERM);
}

TEST_CASE("kill -9 at any moment: started again by the same command, the run ends in the same bits") {
  const Workplace place("tiny_gpt2");
  const std::string expected = uninterrupted(place);
  std::mt19937 random(3);
  Arguments command =
      place.training("run",
                     with(to_the_end, {"checkpoint.every=1", "checkpoint.async_save=on", "checkpoint.resume=auto"}));
  command.insert(command.begin(), program(place.recipe()));
  int n_kills = 0;
  for (bool finished = false; !finished;) {
    Process running(command);
    if (n_kills < 5) {
      REQUIRE(running.wait_for_output("step "));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
      running.signal(SIGKILL);
      ++n_kills;
    }
    const ProcessResult result = running.wait();
    CAPTURE(result.err);
    finished = result.exit_code == 0;
    if (!finished) REQUIRE(result.exit_code == 128 + SIGKILL);
    if (has_checkpoint(place / "run"))
      CHECK(run_program("monomorph-checkpoint", {"verify", place / "run/checkpoints"}).exit_code == 0);
  }
  CHECK(final_state(place / "run") == expected);
  check_metrics_as_uninterrupted(place, "run");
  CHECK(checkpoints_of(place / "run").size() == 2);  // and nothing half-written is left
}

TEST_CASE("hundreds of kills of a run that saves behind its steps", "[.][exhaustive]") {
  const Workplace place("tiny_gpt2");
  const std::vector<std::string> sets{"schedule.kind=constant", "evaluation.at_end=false", "checkpoint.every=1",
                                      "checkpoint.async_save=on"};
  std::mt19937 random(4);
  constexpr int n_kills = 300;
  int n_while_saving = 0;
  for (int round = 0; round < n_kills; ++round) {
    CAPTURE(round);
    Process running(command(place, place.training("run", with(sets, {"run.steps=1000000", "checkpoint.resume=auto"}))));
    REQUIRE(running.wait_for_output("step "));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
    running.signal(SIGKILL);
    REQUIRE(running.wait().exit_code == 128 + SIGKILL);
    const std::vector<std::string> there = checkpoints_of(place / "run");
    n_while_saving += std::ranges::any_of(there, [](const auto& name) { return name.starts_with(".partial-"); });
    if (has_checkpoint(place / "run"))
      CHECK(run_program("monomorph-checkpoint", {"verify", place / "run/checkpoints"}).exit_code == 0);
  }
  WARN(n_while_saving << " of " << n_kills << " kills came while a checkpoint was written");
  CHECK(n_while_saving > n_kills / 4);
  const std::string steps = "run.steps=" + std::to_string(last_saved_step(place / "run") + 4);
  REQUIRE(place.train("run", with(sets, {steps, "checkpoint.resume=auto"})).exit_code == 0);
  REQUIRE(place.train("uninterrupted", with(sets, {steps})).exit_code == 0);
  CHECK(final_state(place / "run") == final_state(place / "uninterrupted"));
  check_metrics_as_uninterrupted(place, "run");
  CHECK(checkpoints_of(place / "run").size() == 2);
}

TEST_CASE("a run that was killed before its first checkpoint begins again by checkpoint.resume=auto") {
  const Workplace place("tiny_gpt2");
  Process running(with(Arguments{program(place.recipe())}, place.training("run", {"run.steps=1000000"})));
  REQUIRE(running.wait_for_output("step       2/"));
  running.signal(SIGKILL);
  running.wait();
  const std::vector<std::string> automatic = with(to_the_end, {"checkpoint.resume=auto"});
  for (const Arguments& command : {Arguments{}, Arguments{"check"}})
    check_refusal(place.run(with(command, place.training("run", to_the_end))), 2,
                  {"[RUN-01]", "already holds a run", "saved no checkpoint", "checkpoint.resume=auto"});
  const std::string expected = uninterrupted(place);
  check_refusal(place.train("run", {"checkpoint.resume=" + place / "uninterrupted"}), 2,
                {"[RUN-01]", "another run.output_dir", "remove that folder"});
  const std::string note = "no checkpoint in \"" + place / "run/checkpoints" + "\" yet: starting from the beginning";
  CHECK(contains(place.run(with(Arguments{"check"}, place.training("run", automatic))).out, note));

  const ProcessResult again = place.train("run", automatic);
  REQUIRE(again.exit_code == 0);
  CHECK(contains(again.out, note));
  CHECK(final_state(place / "run") == expected);
  check_metrics_as_uninterrupted(place, "run");
  CHECK(contains(read_bytes(place / "run/hparams.json"), "\"steps\": 36"));
}

TEST_CASE("a run can be resumed after its last step") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run").exit_code == 0);
  const std::string state = final_state(place / "run");
  const ProcessResult again = place.train("run", {"checkpoint.resume=auto"});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.out, "resumed after step 12"));
  CHECK(contains(again.out, "nothing is left to train: run.steps = 12"));
  CHECK(final_state(place / "run") == state);
  CHECK(metric(place / "run", "loss").size() == 12);
  REQUIRE(place.train("run", {"checkpoint.resume=auto", "run.steps=14"}).exit_code == 0);
  CHECK(metric(place / "run", "loss").size() == 14);

  // A new run folder gets a checkpoint of its own, though there is nothing to do.
  REQUIRE(place.train("next", {"checkpoint.resume=" + place / "run"}).exit_code == 0);
  CHECK(checkpoints_of(place / "next") == std::vector<std::string>{"step_00000014"});

  const std::string elsewhere = "checkpoint.directory=" + place / "elsewhere";
  REQUIRE(place.train("apart", {elsewhere}).exit_code == 0);
  CHECK(contains(place.train("apart", {elsewhere, "checkpoint.resume=auto"}).out, "resumed after step 12"));
}

TEST_CASE("what can't be resumed is refused, and nothing changes") {
  const Workplace place("tiny_gpt2");
  check_refusal(place.train("run", {"checkpoint.resume=" + place / "nowhere"}), 2, {"[RUN-03]", "nowhere"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));

  REQUIRE(place.train("run", {"checkpoint.every=6"}).exit_code == 0);
  const std::string state = final_state(place / "run"), metrics = read_bytes(place / "run/metrics.jsonl");
  for (const Arguments& command : {Arguments{}, Arguments{"check"}})
    check_refusal(place.run(with(command, place.training("run"))), 2,
                  {"[RUN-01]", "already holds a run", "checkpoint.resume=auto"});

  // A checkpoint of another run may be gone on from, but not in a folder that holds a run of its own.
  REQUIRE(place.train("other", {"run.steps=2", "schedule.warmup_steps=0"}).exit_code == 0);
  check_refusal(place.train("run", {"checkpoint.resume=" + place / "other"}), 2, {"[RUN-01]", "already holds a run"});

  const Workplace llama("tiny_llama");
  for (const Arguments& command : {Arguments{}, Arguments{"check"}})
    check_refusal(llama.run(with(command, llama.training("run", {"checkpoint.resume=" + place / "run"}))), 2,
                  {"[RUN-04]", "tiny_llama", "model.vocab_size: 257 there, 512 here"});
  CHECK_FALSE(std::filesystem::exists(llama / "run"));
  check_refusal(llama.run({"generate", "--checkpoint", place / "run", "--prompt", "a"}), 2, {"[RUN-04]"});
  CHECK(final_state(place / "run") == state);
  CHECK(read_bytes(place / "run/metrics.jsonl") == metrics);
}

TEST_CASE("a signal while a run that has trained all its steps ends does not make it fail") {
  const Workplace place("tiny_gpt2");
  for (const std::string ranks : {"1", "2"}) {
    CAPTURE(ranks);
    Process run(
        with(Arguments{program("tiny_gpt2"), "--ranks", ranks}, place.training("of " + ranks, {"run.steps=3"})));
    REQUIRE(run.wait_for_output("step 3/3"));
    for (int i = 0; i < 3000; ++i) {  // all of them are the same request
      run.signal(SIGTERM);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const ProcessResult ended = run.wait();
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
    CHECK(last_saved_step(place / ("of " + ranks)) == 3);
  }
}

TEST_CASE("a damaged checkpoint is named, a torn one is passed over with a warning") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"checkpoint.every=6"}).exit_code == 0);
  const std::string latest = place / "run/checkpoints/step_00000012", tensors = latest + "/rank_00000.safetensors";
  const std::string whole = read_bytes(tensors);

  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  write_bytes(tensors, flipped);
  check_refusal(place.train("run", {"checkpoint.resume=" + latest}), 1,
                {"[CHECKPOINT-05]", "step_00000012", "checksum"});
  check_refusal(place.run({"generate", "--checkpoint", latest, "--prompt", "a"}), 1, {"[CHECKPOINT-05]"});
  check_refusal(run_program("monomorph-checkpoint", {"verify", latest}), 1, {"[CHECKPOINT-05]"});

  const ProcessResult instead = place.train("run", {"checkpoint.resume=auto"});
  CHECK(instead.exit_code == 0);
  CHECK(instead.err.starts_with("warning: [CHECKPOINT-05]"));
  CHECK(contains(instead.out, "resumed after step 6"));
  CHECK(read_bytes(tensors) == whole);  // step 12 was done again

  write_bytes(tensors, whole.substr(0, whole.size() - 1));
  const ProcessResult earlier = place.train("run", {"checkpoint.resume=auto"});
  CHECK(earlier.exit_code == 0);
  CHECK(earlier.err.starts_with("warning: [CHECKPOINT-04]"));
  CHECK(contains(earlier.out, "resumed after step 6"));
  CHECK(read_bytes(tensors) == whole);  // step 12 was done again, and its checkpoint replaced

  for (const std::string step : {"6", "12"}) {
    const std::string metadata =
        place / ("run/checkpoints/step_000000" + std::string(2 - step.size(), '0') + step + "/metadata.json");
    write_bytes(metadata, "{\"format_version\": 1}");
  }
  const ProcessResult none = place.train("run", {"checkpoint.resume=auto"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "[RUN-03] there is no whole checkpoint"));
}
