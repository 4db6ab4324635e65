#include "train/run/saving/run_saver.hpp"

#include "support/catch.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/models/gpt2.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

namespace run_saver_test {
namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

/// As much of a recipe as a checkpoint asks for.
RecipeProgram recipe() {
  RecipeProgram recipe;
  recipe.name = "recorded";
  recipe.model = &models::gpt2_124m;
  recipe.memory = [](int, std::int64_t, int) { return plan::Memory{}; };
  recipe.planned.strategy = [](int) { return plan::Strategy{}; };
  recipe.planned.memory = [](const plan::Strategy&, int, std::int64_t, int) { return plan::Memory{}; };
  recipe.flops = [](std::int64_t, int) { return plan::FlopsPerToken{}; };
  return recipe;
}

}  // namespace

TEST_CASE("a step is saved once, and anew by a run that has gone back behind it") {
  const TemporaryFolder folder;
  const RecipeProgram program = recipe();
  Hparams hparams;
  hparams.run.output_dir.value = folder.path();
  const TrainFiles files;
  RecordedStep step;
  const auto communicator = one_rank();
  RunSaver saver(program, hparams, files, step, nullptr, *communicator, nullptr);
  const auto samples_after_saving = [&](std::int64_t samples) {
    saver.save({.state = {.step = 50, .samples = samples}, .retention = {}});
    return runtime::read_checkpoint_metadata(folder / "checkpoints/step_00000050").sample_counter;
  };
  CHECK(samples_after_saving(400) == 400);
  CHECK(samples_after_saving(480) == 400);
  saver.go_back(50);
  CHECK(samples_after_saving(480) == 400);
  saver.go_back(25);
  CHECK(samples_after_saving(680) == 680);
}

TEST_CASE("a best that is not saved is none: it keeps no later one out, and no checkpoint names it") {
  for (const bool behind : {false, true}) {
    CAPTURE(behind);
    const TemporaryFolder folder;
    const RecipeProgram program = recipe();
    Hparams hparams;
    hparams.run.output_dir.value = folder.path();
    hparams.checkpoint.keep_best.value = true;
    hparams.checkpoint.on_failure.value = OnFailedSave::go_on;
    const TrainFiles files;
    RecordedStep step;
    const auto communicator = one_rank();
    RunSaver saver(program, hparams, files, step, behind ? std::make_unique<StagedState>(step, true) : nullptr,
                   *communicator, nullptr);
    const auto save = [&](std::int64_t of_step, std::optional<double> loss) {
      saver.save(
          {.state = {.step = of_step, .samples = of_step}, .retention = {}, .evaluation = loss, .evaluated = loss});
    };
    const std::string checkpoints = folder / "checkpoints", aside = folder / "aside";
    const auto lowest = [&](std::int64_t of_step) {
      const auto metadata = runtime::read_checkpoint_metadata(checkpoints + "/step_000000" + std::to_string(of_step));
      return std::get<double>(metadata.counters.at("lowest_evaluation_loss"));
    };
    const auto obstruct = [&] {
      std::filesystem::rename(checkpoints, aside);
      write_bytes(checkpoints, "a file in the folder's place");
    };
    save(10, 2.0);
    saver.wait();
    CHECK(lowest(10) == 2.0);
    CHECK_FALSE(saver.would_be_best(2.0));
    if (!behind) obstruct();
    save(20, 1.0);
    if (behind) {
      CHECK_FALSE(saver.would_be_best(1.5));  // it may yet be saved
      while (saver.speaks_up(20)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      obstruct();
      saver.wait();
    }
    CHECK(saver.failed() == 1);
    CHECK(saver.would_be_best(1.5));
    CHECK_FALSE(saver.would_be_best(2.0));
    std::filesystem::remove(checkpoints);
    std::filesystem::rename(aside, checkpoints);
    save(30, std::nullopt);
    saver.wait();
    CHECK(lowest(30) == 2.0);
    save(40, 1.5);
    saver.wait();
    CHECK(lowest(40) == 1.5);
    saver.set_best(2.5);  // as of an earlier checkpoint that the run goes on from
    CHECK(saver.would_be_best(2.0));
  }
}

}  // namespace run_saver_test
