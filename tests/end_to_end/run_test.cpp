// From a text to a model that writes: what a user does, and what is on the disk afterwards.
#include "programs.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <regex>
#include <set>

using namespace monomorph::testing;

namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("a tokeniser, packed data, training, evaluation and text: each command works on what the one before left") {
  const Workplace place("tiny_llama");
  const ProcessResult check = place.run({"check", "--hparams", place.hparams_file("run")});
  CHECK(check.exit_code == 0);
  CHECK(contains(check.out, "tiny_llama accepts these hyperparameters"));
  CHECK(contains(check.out, "starts afresh"));
  CHECK_FALSE(std::filesystem::exists(place / "run"));

  const ProcessResult training =
      place.train("run", {"run.steps=60", "evaluation.every=30", "checkpoint.every=20", "checkpoint.keep=all"});
  INFO(training.err);
  REQUIRE(training.exit_code == 0);
  CHECK(training.err.empty());
  CHECK(contains(training.out, "bits per byte"));

  const auto loss = metric_values(place / "run", "loss");
  REQUIRE(loss.size() == 60);
  // It knows nothing at first: its logits are normal numbers of variance 1 (Llama 3's head), which costs half a nat.
  CHECK(loss.at(1) == Approx(std::log(512.0) + 0.5).epsilon(0.02));
  CHECK(loss.at(60) < 0.85 * loss.at(1));
  const auto held_out = metric_values(place / "run", "evaluation_loss");
  REQUIRE(held_out.size() == 2);  // the one after the last step is not repeated
  CHECK(held_out.at(60) < held_out.at(30));
  CHECK(checkpoints_of(place / "run") == std::vector<std::string>{"step_00000020", "step_00000040", "step_00000060"});

  const ProcessResult evaluation = place.run({"evaluate", "--checkpoint", place / "run"});
  CHECK(evaluation.exit_code == 0);
  CHECK(is_one_line(evaluation.out));
  CHECK(contains(training.out, "evaluation after step 60: " + evaluation.out));  // the same numbers as in the run

  const ProcessResult text =
      place.run({"generate", "--checkpoint", place / "run", "--prompt", "First", "--max-tokens", "10", "--greedy"});
  CHECK(text.exit_code == 0);
  CHECK(text.out.starts_with("First"));
  CHECK(text.out.size() > std::string("First\n").size());
}

TEST_CASE("a run folder has all that it takes to repeat the run, to the same bits") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("first").exit_code == 0);
  std::vector<std::string> names = names_in(place / "first");
  CHECK(std::ranges::count_if(names,
                              [](const std::string& name) { return name.starts_with("events.out.tfevents."); }) == 1);
  std::erase_if(names, [](const std::string& name) { return name.starts_with("events.out.tfevents."); });
  CHECK(names == std::vector<std::string>{"checkpoints", "hparams.json", "metrics.jsonl", "recipe.txt", "run.json",
                                          "tokenizer.json"});
  CHECK(read_bytes(place / "first/tokenizer.json") == read_bytes(place / "tokenizer.json"));
  CHECK(read_bytes(place / "first/recipe.txt") == place.run({"describe", "--micro-batch", "4"}).out);
  const auto run = nlohmann::json::parse(read_bytes(place / "first/run.json"));
  CHECK(run.at("recipe") == "recipes::tiny_gpt2");
  CHECK(run.at("command").at(1) == "--hparams");
  CHECK(std::regex_match(run.at("monomorph").at("version").get<std::string>(), std::regex("\\d+\\.\\d+\\.\\d+")));
  CHECK(
      (run.at("monomorph").at("commit").is_null() || run.at("monomorph").at("commit").get<std::string>().size() == 40));
  CHECK_FALSE(run.at("monomorph").at("compiler").get<std::string>().empty());
  CHECK(run.at("resumed_from").is_null());
  const std::string instruction_set = run.at("compute").at("instruction_set");
  CHECK((instruction_set == "generic" || instruction_set == "avx2" || instruction_set == "avx512"));
  CHECK(run.at("compute").at("threads") >= 1);
  CHECK(contains(run.at("compute").at("libtorch").dump(), "PyTorch built with"));
  const auto &train = run.at("data").at("train").at(0), &held_out = run.at("data").at("evaluation");
  CHECK(train.at("bytes") == std::filesystem::file_size(place / "train.pbin"));
  for (const auto* const file : {&train, &held_out})
    CHECK(std::regex_match(file->at("tokens_hash").get<std::string>(), std::regex("[0-9a-f]{16}")));
  CHECK(train.at("tokens_hash") != held_out.at("tokens_hash"));
  const auto hparams = nlohmann::json::parse(read_bytes(place / "first/hparams.json"));
  CHECK(hparams.at("optimizer").at("lr") == 0.003);
  CHECK(hparams.at("optimizer").at("beta2") == 0.95);  // defaults, too

  const ProcessResult repeated =
      place.run({"--hparams", place / "first/hparams.json", "--set", "run.output_dir=" + place / "second"});
  REQUIRE(repeated.exit_code == 0);
  CHECK(final_state(place / "second") == final_state(place / "first"));
  CHECK(metric(place / "second", "loss") == metric(place / "first", "loss"));

  const ProcessResult other_seed = place.train("third", {"run.seed=8"});
  REQUIRE(other_seed.exit_code == 0);
  CHECK(final_state(place / "third") != final_state(place / "first"));
}

TEST_CASE("how often a run reports, evaluates and saves changes no bit of it") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("plain", {"evaluation.at_end=false"}).exit_code == 0);
  REQUIRE(place.train("busy", {"evaluation.every=5", "checkpoint.every=1", "log.every=3", "log.tensorboard=false"})
              .exit_code == 0);
  CHECK(final_state(place / "busy") == final_state(place / "plain"));
  CHECK(checkpoints_of(place / "busy").size() == 2);  // checkpoint.keep
  const auto loss = metric(place / "plain", "loss");
  for (const auto& [step, value] : metric(place / "busy", "loss")) CHECK(loss.at(step) == value);
}

TEST_CASE("checkpoints are kept for ever, and the best, and change no bit of a run") {
  const Workplace place("tiny_gpt2");
  // The learning rate is so high that the loss rises again.
  const std::vector<std::string> sets{"run.steps=20", "evaluation.every=2", "schedule.kind=constant", "optimizer.lr=1"};
  const std::vector<std::string> keeping{"checkpoint.keep=1", "checkpoint.keep_every=8", "checkpoint.keep_best=true"};
  REQUIRE(place.train("plain", with(sets, {"checkpoint.every=3"})).exit_code == 0);
  REQUIRE(place.train("keeping", with(sets, keeping)).exit_code == 0);
  CHECK(metric(place / "keeping", "loss") == metric(place / "plain", "loss"));
  const auto losses = metric_values(place / "keeping", "evaluation_loss");
  const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  const std::int64_t best = std::min_element(losses.begin(), losses.end(), lower)->first;
  CHECK(best < 20);
  std::set<std::int64_t> steps{8, 16, 20, best};
  std::vector<std::string> expected;
  for (const std::int64_t step : steps) {
    const std::string number = std::to_string(step);
    expected.push_back("step_" + std::string(8 - number.size(), '0') + number);
  }
  CHECK(checkpoints_of(place / "keeping") == expected);

  // A resumed run knows the best, and does not take what comes later for it.
  const std::vector<std::string> on{"run.steps=22", "optimizer.lr=5", "checkpoint.resume=auto"};
  REQUIRE(place.train("keeping", with(with(sets, keeping), on)).exit_code == 0);
  REQUIRE(metric_values(place / "keeping", "evaluation_loss").at(22) > losses.at(best));
  expected.back() = "step_00000022";
  CHECK(checkpoints_of(place / "keeping") == expected);

  // A checkpoint that is saved anew, as that of a run of which nothing is left, stays what it was.
  const auto marks = [&] {
    const auto metadata =
        nlohmann::json::parse(read_bytes(place / "keeping/checkpoints/" + expected.back() + "/metadata.json"));
    return metadata.at("counters").at("evaluation_loss").get<double>();
  };
  const double marked = marks();
  REQUIRE(place.train("keeping", with(with(sets, keeping), on)).exit_code == 0);
  CHECK(marks() == marked);
  CHECK(checkpoints_of(place / "keeping") == expected);

  // By another metric it begins anew: what was the best goes as any other.
  const std::vector<std::string> by_another{"run.steps=24", "checkpoint.resume=auto",
                                            "checkpoint.best_metric=perplexity", "checkpoint.best_is=highest"};
  const ProcessResult other = place.train("keeping", with(with(sets, keeping), by_another));
  REQUIRE(other.exit_code == 0);
  CHECK(contains(other.out,
                 "that of the lowest evaluation_loss so far, and is that of the highest "
                 "evaluation_perplexity from here on"));
  CHECK(checkpoints_of(place / "keeping") ==
        std::vector<std::string>{"step_00000008", "step_00000016", "step_00000024"});
}

TEST_CASE("a run that says nothing of steps between checkpoints writes them by the clock") {
  const Workplace place("tiny_gpt2");
  Process run(command(place, place.training("run", {"run.steps=1000000", "checkpoint.every_seconds=1"})));
  REQUIRE(wait_for_save(place / "run", 1));
  const std::int64_t first = last_saved_step(place / "run");
  CHECK(wait_for_save(place / "run", first + 1));
  run.signal(SIGTERM);
  CHECK(run.wait().exit_code == 0);
}

TEST_CASE("the number of threads changes no bit of a run") {
  const Workplace place("tiny_llama");
  REQUIRE(place.run(place.training("one"), {{"OMP_NUM_THREADS", "1"}}).exit_code == 0);
  REQUIRE(place.run(place.training("three"), {{"OMP_NUM_THREADS", "3"}}).exit_code == 0);
  CHECK(final_state(place / "one") == final_state(place / "three"));
}

TEST_CASE("where no terminal is, the log has plain lines") {
  const Workplace place("tiny_gpt2");
  const ProcessResult training = place.train("run", {"log.every=5"});
  CHECK(training.out.find('\r') == std::string::npos);
  CHECK(training.out.find('\x1b') == std::string::npos);
  for (const std::string line : {"step  1/12 ", "step  5/12 ", "step 10/12 ", "step 12/12 "}) {
    CAPTURE(line, training.out);
    CHECK(contains(training.out, line));
  }
  CHECK_FALSE(contains(training.out, "step  6/12 "));
  CHECK(contains(training.out, "measured"));  // what MFU is relative to
}

TEST_CASE("a reader that leaves early stops neither the training nor its files") {
  const Workplace place("tiny_gpt2");
  const ProcessResult piped =
      run_process(bash("set -o pipefail; \"$@\" | head -n 1", command(place, place.training("run"))));
  CHECK(piped.exit_code == 0);
  CHECK(is_one_line(piped.out));
  CHECK(metric(place / "run", "loss").size() == 12);
  REQUIRE(place.train("whole").exit_code == 0);
  CHECK(final_state(place / "run") == final_state(place / "whole"));

  const ProcessResult closed = run_process(bash("\"$@\" >&-", command(place, place.training("closed"))));
  CHECK(closed.exit_code == 0);
  CHECK(metric(place / "closed", "loss") == metric(place / "whole", "loss"));  // no line of the log went into a file
  CHECK(final_state(place / "closed") == final_state(place / "whole"));
}

TEST_CASE("output that can't be written is an error") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  const std::string recipe = program("tiny_gpt2"), data = program("monomorph-data"),
                    checkpoint = program("monomorph-checkpoint"), run = place / "run", pbin = place / "train.pbin",
                    hparams = place.hparams_file("other");
  for (const Arguments& command :
       std::vector<Arguments>{{recipe, "--help"},
                              {recipe, "generate", "--help"},
                              {recipe, "describe"},
                              {recipe, "schema"},
                              {recipe, "check", "--hparams", hparams},
                              {recipe, "check", "--collectives", "--hparams", hparams},
                              {recipe, "evaluate", "--checkpoint", run},
                              {recipe, "generate", "--max-tokens", "3", "--prompt", "a", "--checkpoint", run},
                              {checkpoint, "--help"},
                              {checkpoint, "inspect", "--help"},
                              {checkpoint, "inspect", run},
                              {checkpoint, "verify", run},
                              {checkpoint, "digest", run},
                              {data, "--help"},
                              {data, "pack", "--help"},
                              {data, "inspect", pbin},
                              {data, "inspect", "--json", pbin},
                              {data, "verify", pbin}}) {
    CAPTURE(command);
    check_refusal(run_process(bash("\"$@\" > /dev/full", command)), 1,
                  {"[FILE-02]", "standard output", "the disk is full"});
    check_refusal(run_process(bash("\"$@\" >&-", command)), 1, {"[FILE-03]", "standard output"});
  }
}

TEST_CASE("that a message can't be written changes nothing") {
  for (const std::string name : {"tiny_gpt2", "monomorph-data", "monomorph-checkpoint"}) {
    CAPTURE(name);
    const Arguments command{program(name), "nothing"};
    CHECK(run_process(bash("\"$@\" 2> /dev/full", command)).exit_code == 2);
    CHECK(run_process(bash("\"$@\" 2>&-", command)).exit_code == 2);
  }
}

TEST_CASE("monomorph-checkpoint takes what the other programs take: a checkpoint, a folder of them, a run folder") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  const std::string checkpoint = place / "run/checkpoints/step_00000003";
  for (const std::string command : {"inspect", "verify", "digest"}) {
    const ProcessResult of_checkpoint = run_program("monomorph-checkpoint", {command, checkpoint});
    CHECK(of_checkpoint.exit_code == 0);
    for (const std::string folder : {"run", "run/checkpoints"}) {
      const ProcessResult result = run_program("monomorph-checkpoint", {command, place / folder});
      CAPTURE(command, folder, result.err);
      CHECK(result.exit_code == 0);
      CHECK(result.out == of_checkpoint.out);
    }
    check_refusal(run_program("monomorph-checkpoint", {command, place / "nowhere"}), 2, {"[RUN-03]", "nowhere"});
    check_refusal(run_program("monomorph-checkpoint", {command}), 2, {"[CHECKPOINT-11]", "DIR", "--help"});
  }
  check_refusal(run_program("monomorph-checkpoint", {"inspcet", checkpoint}), 2, {"[CHECKPOINT-11]"});
  std::filesystem::create_directory(place / "run/checkpoints/step_00000009");
  const ProcessResult beside_broken = run_program("monomorph-checkpoint", {"verify", place / "run"});
  CHECK(beside_broken.exit_code == 0);
  CHECK(contains(beside_broken.err, "warning: [CHECKPOINT-01]"));
  CHECK(contains(beside_broken.out, "step_00000003"));
}

#ifndef MONOMORPH_SANITIZE  // its frames are larger than what a stack may have
TEST_CASE("a small stack is raised where that is allowed, and refused with a line where it is not") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("whole", {"run.steps=3"}).exit_code == 0);
  const auto train = [&](const std::string& name) { return command(place, place.training(name, {"run.steps=3"})); };
  for (const std::string kibibytes : {"128", "256", "512"}) {
    CAPTURE(kibibytes);
    const ProcessResult raised =
        run_process(bash("ulimit -Ss " + kibibytes + "; exec \"$@\"", train("raised" + kibibytes)));
    CAPTURE(raised.err);
    CHECK(raised.exit_code == 0);
    CHECK(final_state(place / ("raised" + kibibytes)) == final_state(place / "whole"));
    for (const Arguments& refused : {train("refused"), command(place, {"describe"}),
                                     Arguments{program("monomorph-data"), "inspect", place / "train.pbin"},
                                     Arguments{program("monomorph-checkpoint"), "verify", place / "whole"}})
      check_refusal(run_process(bash("ulimit -s " + kibibytes + "; exec \"$@\"", refused)), 2,
                    {"[LIMIT-01]", "stack", "2.00 MiB", kibibytes + " KiB", "ulimit -s"});
  }
  for (const char* const size : {"256", "256K", "1m", "1000000B"}) {
    CAPTURE(size);
    for (const char* const name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"})
      check_refusal(place.run(place.training("refused"), {{name, size}}), 2, {"[LIMIT-01]", name, size, "2.00 MiB"});
  }
  CHECK_FALSE(std::filesystem::exists(place / "refused"));
  CHECK(place.run(place.training("enough", {"run.steps=3"}), {{"OMP_STACKSIZE", "4M"}}).exit_code == 0);
}
#endif

TEST_CASE("a limit of the size of files ends a program with a line") {
  const Workplace place("tiny_gpt2");
  const auto limited = [](int kibibytes, const Arguments& command, const std::string& to = "") {
    return run_process(bash("ulimit -f " + std::to_string(kibibytes) + "; exec \"$@\"" + to, command));
  };
  const ProcessResult training = limited(64, command(place, place.training("run")));
  CHECK(training.exit_code == 1);
  CHECK(contains(training.err, "[FILE-06]"));
  CHECK(contains(training.err, "rank_00000.safetensors"));
  CHECK(contains(training.err, "ulimit -f"));
  check_refusal(limited(4, {program("monomorph-data"), "pack", place / "train.txt", "--tokenizer",
                            place / "tokenizer.json", "--output", place / "limited.pbin"}),
                1, {"[FILE-06]", "limited.pbin", "ulimit -f"});
  CHECK_FALSE(std::filesystem::exists(place / "limited.pbin"));
  check_refusal(limited(4, command(place, {"schema"}), " > '" + place / "schema.json" + "'"), 1, {"[FILE-06]"});
}

TEST_CASE("MONOMORPH_ISA limits the instruction set of our kernels and of LibTorch, and is refused where it can't be") {
  const Workplace place("tiny_gpt2");
  const Arguments training = place.training("run", {"run.steps=1", "schedule.warmup_steps=0"});
  for (const std::string isa : {"avx1024", "AVX2"})
    check_refusal(place.run(training, {{"MONOMORPH_ISA", isa}}), 2, {"[RUN-18]", isa, "generic"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
  REQUIRE(place.run(training, {{"MONOMORPH_ISA", "generic"}}).exit_code == 0);
  const auto compute = nlohmann::json::parse(read_bytes(place / "run/run.json")).at("compute");
  CHECK(compute.at("instruction_set") == "generic");
  CHECK(contains(compute.at("libtorch").dump(), "CPU capability usage: DEFAULT"));
}

TEST_CASE("a program loads LibTorch when it first needs it, and says in a line when it can't") {
  const ProcessResult libraries = run_process({"ldd", program("tiny_gpt2")});
  CHECK(libraries.exit_code == 0);
  CHECK(contains(libraries.out, "libstdc++"));
  for (const std::string name : {"libtorch", "libc10", "not found"}) CHECK_FALSE(contains(libraries.out, name));
  const Workplace place("tiny_gpt2");
  std::filesystem::create_directory(place / "broken");
  write_bytes(place / "broken/libmonomorph_libtorch.so", "");
  const Process::Environment broken = {{"LD_LIBRARY_PATH", place / "broken"}};
  CHECK(place.run({"describe"}, broken).exit_code == 0);
  check_refusal(place.run({"--hparams", "nowhere.json"}, broken), 2, {"nowhere.json"});
  const Arguments training = place.training("run", {"run.steps=1", "schedule.warmup_steps=0"});
  check_refusal(place.run(training, broken), 1, {"[RUN-33]", "libmonomorph_libtorch.so"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("metrics have what the hardware computes beside what the model needs, and the time beside the steps") {
  const Workplace place("tiny_gpt2");  // EveryNthBlock<2> computes one of its two blocks again
  REQUIRE(place
              .train("run", {"run.steps=4", "evaluation.every=2", "checkpoint.every=2",
                             "checkpoint.async_save=off"})  // or else part of its time is after later steps
              .exit_code == 0);
  const auto at = [&](std::int64_t step, const std::string& name) {
    return std::stod(metric(place / "run", name).at(step));
  };
  // The block: queries, keys and values 2 x 96 x 32, attention 4 x 32 x 33 / 2, its output 2 x 32^2, 2 x 128 x 32 of
  // the MLP; beside three times the products of two blocks and of the head, whose 257 rows are padded to 320.
  constexpr double again = 2 * 96 * 32 + 2 * 32 * 33 + 2 * 32 * 32 + 2 * 128 * 32,
                   needed = 3 * (2 * (2 * 12 * 32 * 32 + 2 * 32 * 33) + 2 * 257 * 32), padding = 3 * 2 * 63 * 32;
  CHECK(at(4, "hfu") / at(4, "mfu") == Approx((needed + padding + again) / needed));
  // 12 L D T of two blocks, of width 32 and with 32 tokens.
  CHECK((at(4, "mfu_palm") - at(4, "mfu_6n")) / at(4, "mfu") == Approx(12.0 * 2 * 32 * 32 / needed));
  CHECK(at(4, "planned_memory_bytes") > 0);
  CHECK_FALSE(metric(place / "run", "work_seconds.step").contains(1));  // there was no step before
  for (const std::int64_t step : {2, 3, 4}) {
    double sum = 0;
    for (const std::string kind :
         {"products", "attention", "elementwise", "loss", "optimizer", "collectives", "copies", "data", "other"})
      sum += at(step, "work_seconds." + kind);
    CHECK(sum == Approx(at(step, "work_seconds.step")));
    for (const std::string kind : {"products", "attention", "elementwise", "loss", "optimizer"})
      CHECK(at(step, "work_seconds." + kind) > 0);
    CHECK(at(step, "work_seconds.collectives") < 0.1 * sum);
  }
  CHECK(contains(metric(place / "run", "roof_fraction").at(4), "NaN"));  // of no GPU
  for (const std::string name : {"evaluation_seconds", "checkpoint_seconds"}) {
    CHECK(at(2, name) == 0);
    CHECK(at(3, name) > 0);  // after step 2
    CHECK(at(4, name) == 0);
  }
}
