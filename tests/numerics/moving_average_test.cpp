// Evaluations, and commands that use a checkpoint, take the moving average that optim::Averaged keeps of parameters.
#include "train/run/moving_average.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensors.hpp"
#include "support/training_program.hpp"

#include <monomorph/optim/averaged.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

namespace monomorph::testing::moving_average_test {
namespace {

struct AveragedWeights : gpt2_like {
  using optimizer = optim::Averaged<optim::AdamW>;
};
/// Compute reads copies of its masters, which follow them.
struct AveragedMixed : AveragedWeights {
  using precision = monomorph::precision::Bf16Mixed;
};

constexpr std::int64_t samples = 2;

/// A step whose parameters differ from their average.
struct AveragedRun {
  train::RecipeProgram recipe;
  std::unique_ptr<Communicator> communicator = one_rank();
  Owned<train::TrainingStep> step = recipe.make_step(*communicator, samples, 3, 0, recipe.hparams.objective);
  train::RunState state;

  explicit AveragedRun(train::RecipeProgram of) : recipe(std::move(of)) {}
  void train(int n_steps) {
    train::Hparams hparams = train::default_hparams(recipe.hparams);
    hparams.optimizer.policy.as<AveragedWeights::optimizer::Hparams>().weights.lr.value = 0.01;
    for (; state.step < n_steps; ++state.step, state.samples += samples, ++state.updates) {
      step->accumulate(batch(), static_cast<std::uint64_t>(state.step), {});
      step->decide({});
      step->update(hparams.optimizer.policy, {});
    }
  }
  train::MicroBatch batch() const { return sequences.from(0, recipe.model->context_length); }
  Tensors average() const {
    Tensors found;
    for (auto& [name, values] : values_of(step->optimizer_state()))
      if (name.starts_with("average.")) found[name.substr(8)] = values;
    return found;
  }
  std::uint64_t hash() const { return hash_of(step->parameters()) ^ 3 * hash_of(step->optimizer_state()); }
  double loss() const { return step->evaluate(batch()).loss; }
};

template <class R> void check_use() {
  AveragedRun run(training_program<R>()), of_average(training_program<R>());
  run.train(3);
  const std::uint64_t before = run.hash();
  const double loss = run.loss();
  assign(of_average.step->parameters(), run.average());
  of_average.step->parameters_changed();

  double loss_of_average = 0;
  train::MovingAverage(*run.step).used_by(1, [&] { loss_of_average = run.loss(); });
  CHECK(loss_of_average == of_average.loss());
  train::MovingAverage(*run.step).used_by(0, [&] { CHECK(run.loss() == loss); });  // of nothing yet
  CHECK(loss_of_average != loss);
  CHECK(run.hash() == before);
  CHECK(run.loss() == loss);
}

}  // namespace

TEST_CASE("an evaluation uses the moving average, and leaves parameters and average where they were") {
  check_use<AveragedWeights>();
  check_use<AveragedMixed>();
}

TEST_CASE("a checkpoint is used with the moving average, and gone on from with the parameters") {
  const TemporaryFolder folder;
  AveragedRun run(training_program<AveragedWeights>()), used(run.recipe), resumed(run.recipe);
  run.train(3);
  train::save_run(folder.path(), {}, run.recipe, train::default_hparams(run.recipe.hparams), run.state, {}, *run.step,
                  *run.communicator);
  const std::string checkpoint = train::find_checkpoint(folder.path());
  train::restore_run(checkpoint, run.recipe, *used.step, false);
  CHECK(values_of(used.step->parameters()) == run.average());
  train::restore_run(checkpoint, run.recipe, *resumed.step, true);
  CHECK(resumed.hash() == run.hash());
}

TEST_CASE("without a moving average a step is used as it is") {
  const auto communicator = one_rank();
  const train::RecipeProgram recipe = training_program<gpt2_like>();
  const auto step = recipe.make_step(*communicator, samples, 3, 0, recipe.hparams.objective);
  const std::uint64_t before = hash_of(step->parameters());
  train::MovingAverage(*step).used_by(1, [&] { CHECK(hash_of(step->parameters()) == before); });
}

}  // namespace monomorph::testing::moving_average_test
