// A recipe on two devices: two programs of one experiment. The second device runs its kernels when the host waits for
// them and not when it calls them, so the whole program, not only its step, must wait before it reads.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace monomorph::testing;

namespace {

const std::string on_cpu = "tiny_gpt2_anywhere", on_recorder = "tiny_gpt2_anywhere_recording";

/// Trains up to a step by one of the programs, and returns the state that it leaves.
std::string state_after(const Workplace& place, const std::string& program, const std::string& run,
                        const std::vector<std::string>& sets) {
  const ProcessResult result = run_program(program, place.training(run, sets));
  CAPTURE(program, result.err);
  REQUIRE(result.exit_code == 0);
  return final_state(place / run);
}

}  // namespace

TEST_CASE(
    "the programs of a recipe on two devices train to the same bits, and each resumes from the other's checkpoint") {
  const Workplace place(on_cpu);
  const std::string expected = state_after(place, on_cpu, on_cpu, {"checkpoint.every=6", "checkpoint.keep=all"});
  CHECK(state_after(place, on_recorder, on_recorder, {"checkpoint.every=6", "checkpoint.keep=all"}) == expected);
  CHECK(metric(place / on_cpu, "loss") == metric(place / on_recorder, "loss"));
  CHECK(metric(place / on_cpu, "evaluation_loss") == metric(place / on_recorder, "evaluation_loss"));

  const auto resume = [&](const std::string& from) {
    return std::vector<std::string>{"checkpoint.resume=" + place / from + "/checkpoints/step_00000006"};
  };
  CHECK(state_after(place, on_recorder, "recorder after cpu", resume(on_cpu)) == expected);
  CHECK(state_after(place, on_cpu, "cpu after recorder", resume(on_recorder)) == expected);

  const Arguments generate{"generate", "--checkpoint", place / on_cpu, "--prompt", "First", "--max-tokens", "8"};
  const ProcessResult text = run_program(on_cpu, generate);
  CAPTURE(text.err);
  CHECK(text.exit_code == 0);
  CHECK(run_program(on_recorder, generate).out == text.out);
}

TEST_CASE("a program on another device is of the same recipe, and says where it computes") {
  const std::string cpu = run_program(on_cpu, {"describe"}).out, recorder = run_program(on_recorder, {"describe"}).out;
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  CHECK(contains(first_line(cpu), "recipes::tiny_gpt2_anywhere, fingerprint "));
  CHECK(first_line(cpu) == first_line(recorder));
  CHECK(contains(cpu, "Cpu"));
  CHECK(contains(recorder, "Recording"));
}
