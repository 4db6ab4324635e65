#include "train/run/saving/run_saver.hpp"

#include "support/catch.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/models/gpt2.hpp>
#include <monomorph/runtime/comm/world.hpp>

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

}  // namespace run_saver_test
