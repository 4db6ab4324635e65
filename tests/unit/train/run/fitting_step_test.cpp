#include "train/run/fitting_step.hpp"

#include "support/catch.hpp"
#include "support/communicators.hpp"
#include "support/error_of.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/models/gpt2.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace fitting_steps {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t plenty = 1'000'000;

/// The largest micro-batch that the device gives memory for, and that its plan has room for.
std::int64_t given = 0, planned = 0;

/// A recipe on a device that takes 1 MiB for each sequence.
RecipeProgram recipe() {
  RecipeProgram program;
  program.name = "recorded";
  program.model = &models::gpt2_124m;
  program.memory = [](int, std::int64_t micro_batch, int) {
    return plan::Memory{.activations = micro_batch * mebibyte, .arena_on_host = false};
  };
  program.planned.strategy = [](int) { return plan::Strategy{}; };
  program.planned.memory = [](const plan::Strategy&, int, std::int64_t micro_batch, int) {
    return recipe().memory(1, micro_batch, 0);
  };
  program.flops = [](std::int64_t, int) { return plan::FlopsPerToken{}; };
  program.device_use = [] { return DeviceUse{.free_memory_bytes = planned * mebibyte}; };
  program.make_step = [](Communicator&, std::int64_t micro_batch, std::uint64_t, int,
                         const PolicyHparams&) -> Owned<TrainingStep> {
    if (micro_batch > given) throw UsageError("GPU-05", "the plan's memory must be free");
    return std::make_unique<RecordedStep>();
  };
  return program;
}

Hparams sequences(std::int64_t global_batch, OptionalCount micro_batch = std::nullopt) {
  Hparams hparams;
  hparams.batch.global_batch.value = global_batch;
  hparams.batch.micro_batch.value = micro_batch;
  return hparams;
}

/// A run's start until its step is there.
struct Begun {
  Hparams hparams;
  std::vector<std::string> notes;
  Owned<TrainingStep> step;
};
Begun begin(Hparams hparams, Communicator& communicator, const std::optional<std::string>& checkpoint = std::nullopt) {
  Begun run{std::move(hparams), {}, nullptr};
  const auto choice =
      choose_micro_batch_together(recipe(), run.hparams, checkpoint, {communicator.size(), 1}, communicator);
  run.step = make_fitting_step(recipe(), run.hparams, choice, communicator, run.notes);
  return run;
}
Begun begin(const Hparams& hparams, const std::optional<std::string>& checkpoint = std::nullopt) {
  return begin(hparams, *one_rank(), checkpoint);
}

/// Rank 0 of two, of which the other says these words, one after the other, where ranks gather a word of each.
class WithOther final : public IdleCommunicator {
 public:
  explicit WithOther(std::vector<std::int64_t> words) : words_(std::move(words)) {}
  bool is_heard() const { return next_ == words_.size(); }

 private:
  void start_all_reduce_max(View) override {}
  void all_reduce_words(std::span<std::int64_t> words) override { words[1] += words_.at(next_++); }
  std::vector<std::int64_t> words_;
  std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("a device that refuses the memory gets the next smaller micro-batch that divides") {
  planned = 48, given = 48;
  CHECK(micro_batch_of(begin(sequences(96)).hparams) == 48);
  given = 20;
  const Begun run = begin(sequences(96));  // 48, 32, 24, 16
  CHECK(micro_batch_of(run.hparams) == 16);
  CHECK(run.hparams.batch.global_batch == 96);
  CHECK(run.notes == std::vector<std::string>{"batch.micro_batch = 16 (auto: as the memory for 24 was refused)"});
  given = 0;
  CHECK(contains(error_of([] { begin(sequences(96)); }), "[GPU-05]"));
}

TEST_CASE("a number that was given, or that a checkpoint's run had, is not changed by a refusal") {
  planned = plenty, given = 20;
  const std::string refusal = error_of([] { begin(sequences(96, 32)); });
  CHECK(contains(refusal, "[GPU-05]"));
  CHECK(contains(refusal, "the largest part of the plan is activations with 32.0 MiB; "));
  planned = 20;
  CHECK(contains(error_of([] { begin(sequences(96, 32)); }), "; change batch.micro_batch to 16, which fits"));
  CHECK(begin(sequences(96, 16)).notes.empty());

  const TemporaryFolder folder;
  RecordedStep step;
  save_run(folder / "", {}, recipe(), sequences(96, 12), {.step = 5, .samples = 480}, {}, step, *one_rank());
  const std::string checkpoint = find_checkpoint(folder / "");
  CHECK(micro_batch_of(begin(sequences(96), checkpoint).hparams) == 12);
  CHECK(micro_batch_of(begin(sequences(30), checkpoint).hparams) == 10);
  CHECK(micro_batch_of(begin(sequences(96, 16), checkpoint).hparams) == 16);
  given = 8;
  CHECK(contains(error_of([&] { begin(sequences(96), checkpoint); }), "[GPU-05]"));
}

TEST_CASE("memory that a device refuses once it computes is told with the plan's parts and a change, too") {
  planned = 20;
  const UsageError refusal("GPU-05", "the GPU has no memory left");
  const std::string line = with_memory_advice(refusal, recipe(), sequences(96, 32), 1).what();
  CHECK(contains(line, "[GPU-05] the GPU has no memory left; the largest part of the plan is activations with 32.0 "));
  CHECK(contains(line, "; change batch.micro_batch to 16, which fits"));
  const std::string of_host =
      with_memory_advice(UsageError("GPU-06", "the host has none"), recipe(), sequences(96, 32), 1).what();
  CHECK(contains(of_host, "[GPU-06] the host has none; the largest part of the plan is activations with 32.0 MiB; "));
  CHECK(contains(of_host, "; lower batch.micro_batch"));
  // No micro-batch was chosen yet.
  CHECK(contains(with_memory_advice(refusal, recipe(), sequences(96), 1).what(), "activations with 1.00 MiB"));
  CHECK(is_refused_memory(refusal));
  CHECK_FALSE(is_refused_memory(UsageError("GPU-03", "CUDA has none here")));
}

TEST_CASE("what is wrong besides memory ends the start") {
  planned = 8;
  RecipeProgram broken = recipe();
  broken.make_step = [](Communicator&, std::int64_t, std::uint64_t, int, const PolicyHparams&) -> Owned<TrainingStep> {
    throw UsageError("GPU-03", "CUDA has none here");
  };
  Hparams hparams = sequences(8);
  std::vector<std::string> notes;
  CHECK(contains(error_of([&] {
                   make_fitting_step(broken, hparams, MicroBatchChoice{8, "", true}, *one_rank(), notes);
                 }),
                 "[GPU-03]"));
  CHECK(notes.empty());
}

TEST_CASE("ranks have one micro-batch, which the one with least memory decides") {
  constexpr std::int64_t no_failure = 0, served = 0, refused = 1;
  planned = 64, given = plenty;
  WithOther smaller({no_failure, 16, no_failure, served});
  CHECK(micro_batch_of(begin(sequences(128), smaller).hparams) == 16);
  CHECK(smaller.is_heard());
  WithOther refusing({no_failure, 64, no_failure, refused, no_failure, refused, no_failure, served});
  CHECK(micro_batch_of(begin(sequences(128), refusing).hparams) == 16);
  CHECK(refusing.is_heard());
  given = 5;
  WithOther larger({no_failure, 64, no_failure, served, no_failure, served, no_failure, served, no_failure, served,
                    no_failure, served});
  CHECK(micro_batch_of(begin(sequences(128), larger).hparams) == 4);
  CHECK(larger.is_heard());
}

TEST_CASE("where the memory that was asked for is refused to another rank, this one says so") {
  planned = 64, given = plenty;
  WithOther refused({0, static_cast<std::int64_t>(ExitCode::usage)});
  const std::string line = error_of([&] { begin(sequences(128, 32), refused); });
  CHECK(contains(line, "[RANK-08] rank 1 could not take the memory for the step, and says why"));
  CHECK(refused.is_heard());
}

}  // namespace fitting_steps
