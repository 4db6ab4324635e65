#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>

using namespace monomorph::testing;

namespace {

namespace fs = std::filesystem;

ProcessResult tool(const Arguments& arguments) { return run_program("monomorph-checkpoint", arguments); }

void check_success(const ProcessResult& result) {
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}

/// A run with checkpoints of the steps 2, 4 and 6, saved by one rank or by two, each of which holds its shards.
struct Trained : Workplace {
  explicit Trained(const std::string& recipe, const Arguments& ranks = {}) : Workplace(recipe) {
    check_success(run(with(training("run", {"run.steps=6", "checkpoint.every=2", "checkpoint.keep=all",
                                            "batch.reduction=fixed_tree", "batch.micro_batch=4"}),
                           ranks)));
  }
  std::string step(int number) const { return *this / ("run/checkpoints/step_0000000" + std::to_string(number)); }
};

}  // namespace

TEST_CASE("monomorph-checkpoint needs no LibTorch") {
  const ProcessResult libraries = run_process({"ldd", program("monomorph-checkpoint")});
  CHECK(libraries.exit_code == 0);
  CHECK(contains(libraries.out, "libstdc++"));
  for (const std::string name : {"libtorch", "libc10", "libcuda", "libgloo", "not found"})
    CHECK_FALSE(contains(libraries.out, name));
}

TEST_CASE("diff: a checkpoint is equal to itself however it was split, and not to that of another step") {
  const Trained one("tiny_gpt2_fsdp"), two("tiny_gpt2_fsdp", {"--ranks", "2"});
  check_success(tool({"diff", one / "run", one.step(6)}));
  check_success(tool({"diff", one / "run", two / "run"}));
  const ProcessResult differ = tool({"diff", one.step(4), one / "run"});
  CHECK(differ.exit_code == 1);
  CHECK(differ.err.empty());
  CHECK(contains(differ.out, "after step 4"));
  CHECK(contains(differ.out, "differs   embedding.weight: "));
  CHECK(contains(differ.out, "the largest difference is "));
  // What keeps diff from comparing is no difference.
  check_refusal(tool({"diff", one / "run", one / "nowhere"}), 2, {"[RUN-03]", "nowhere"});
  write_bytes(one.step(4) + "/metadata.json", "{}");
  check_refusal(tool({"diff", one.step(4), one.step(6)}), 2, {"[CHECKPOINT-03]"});
}

TEST_CASE("a checkpoint is named by the step, too") {
  const Trained place("tiny_gpt2");
  CHECK(tool({"digest", place / "run", "--step", "4"}).out == tool({"digest", place.step(4)}).out);
  check_refusal(tool({"digest", place / "run", "--step", "5"}), 2, {"[RUN-03]", "step 5"});
  check_refusal(tool({"digest", place / "run", "--step", "x"}), 2, {"[CHECKPOINT-11]", "--step"});
}

TEST_CASE("average: the programs take it for weights, and no run resumes from it") {
  const Trained place("tiny_gpt2");
  const ProcessResult made = tool({"average", place.step(4), place.step(6), "--output", place / "mean"});
  check_success(made);
  CHECK(contains(made.err, "optimiser is left out"));
  check_success(tool({"verify", place / "mean"}));
  CHECK_FALSE(contains(tool({"digest", place / "mean"}).out, "moment"));
  const ProcessResult evaluated =
      place.run({"evaluate", "--checkpoint", place / "mean", "--data", place / "held_out.pbin"});
  check_success(evaluated);
  check_success(place.run({"generate", "--checkpoint", place / "mean", "--prompt", "First", "--max-tokens", "3"}));
  check_success(place.train("begun", {"weights.from=" + place / "mean", "run.steps=3"}));
  check_refusal(place.train("resumed", {"checkpoint.resume=" + place / "mean"}), 2, {"[WEIGHTS-10]"});
  // All the weight but a trace on one of them gives that one.
  check_success(tool({"average", place.step(4), place.step(6), "--weights", "1e-300,1", "--output", place / "last"}));
  const ProcessResult difference = tool({"diff", place / "last", place.step(6)});
  CHECK(contains(difference.out, " 0 differ, 0 are of another shape or dtype, 0 are in the first alone"));
  check_refusal(tool({"average", place.step(4), place.step(6), "--weights", "1,none", "--output", place / "x"}), 2,
                {"[CHECKPOINT-33]", "\"none\""});
  check_refusal(tool({"average", place.step(4), "--output", place / "x"}), 2, {"[CHECKPOINT-11]"});
  check_refusal(tool({"average", place.step(4), place.step(6), "--output", place / "mean"}), 2, {"[CHECKPOINT-30]"});
  CHECK_FALSE(fs::exists(place / "x"));
}

TEST_CASE("prune deletes what the run would, says it first if asked, and keeps off a run's folder") {
  const Trained place("tiny_gpt2");
  const auto steps = [&] { return checkpoints_of(place / "run"); };
  const ProcessResult dry = tool({"prune", place / "run", "--keep-last", "1", "--keep-every", "4", "--dry-run"});
  check_success(dry);
  CHECK(contains(dry.out, "would delete " + place.step(2)));
  CHECK(steps().size() == 3);
  const ProcessResult pruned = tool({"prune", place / "run", "--keep-last", "1", "--keep-every", "4"});
  check_success(pruned);
  CHECK(steps() == std::vector<std::string>{"step_00000004", "step_00000006"});
  CHECK_FALSE(fs::exists(place / "run/checkpoints/.owner"));
  check_refusal(tool({"prune", place / "run"}), 2, {"[CHECKPOINT-11]", "--keep-last"});
  check_refusal(tool({"prune", place / "run", "--keep-last", "0"}), 2, {"[CHECKPOINT-11]", "--keep-last"});
  check_refusal(tool({"prune", place / "nowhere", "--keep-last", "1"}), 2, {"[RUN-03]"});
  Process running(command(place, place.training("run", {"run.steps=100000", "checkpoint.resume=auto"})));
  while (!fs::exists(place / "run/checkpoints/.owner")) CHECK(tool({"--help"}).exit_code == 0);
  check_refusal(tool({"prune", place / "run", "--keep-last", "1"}), 1, {"[CHECKPOINT-34]", "--dry-run"});
  CHECK(steps().size() >= 2);
}

TEST_CASE("consolidate and to-torch: one file from the shards of two ranks, and nothing half-written") {
  const Trained place("tiny_gpt2_fsdp", {"--ranks", "2"});
  CHECK(fs::exists(place.step(6) + "/rank_00001.safetensors"));
  check_success(tool({"consolidate", place / "run", "--output", place / "all.safetensors"}));
  check_success(tool({"to-torch", place / "run", "--output", place / "all.pt"}));
  check_success(tool({"consolidate", place / "run", "--weights-only", "--output", place / "weights.safetensors"}));
  CHECK(fs::file_size(place / "all.safetensors") > 2 * fs::file_size(place / "weights.safetensors"));
  check_success(run_process({"python3", std::string(MONOMORPH_SOURCE_DIR) + "/tests/support/check_torch_file.py",
                             place / "all.pt", place / "all.safetensors"}));
  for (const std::string command : {"consolidate", "to-torch"}) {
    CAPTURE(command);
    const auto refused = [&](const std::string& output, int exit_code, const std::string& id) {
      check_refusal(tool({command, place / "run", "--output", output}), exit_code, {id});
    };
    refused(place / "all.pt", 2, "[CHECKPOINT-30]");
    refused(place.step(6) + "/file", 2, "[CHECKPOINT-31]");
    refused(place / "no/such", 1, "[FILE-01]");
    refused("/dev/full", 1, "[FILE-02]");
    fs::create_directory(place / "limited");
    check_refusal(run_process(bash("ulimit -f 16; exec \"$@\"", {program("monomorph-checkpoint"), command,
                                                                 place / "run", "--output", place / "limited/file"})),
                  1, {"[FILE-06]"});
    CHECK(fs::is_empty(place / "limited"));
    fs::remove(place / "limited");
  }
  check_refusal(run_process(
                    bash("ulimit -f 16; exec \"$@\"", {program("monomorph-checkpoint"), "average", place.step(4),
                                                       place.step(6), "--output", place / "limited"})),
                1, {"[FILE-06]"});
  CHECK_FALSE(fs::exists(place / "limited"));
}
