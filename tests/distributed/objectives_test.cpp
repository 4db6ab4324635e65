// An objective that prepares samples gives the bits of one rank on several: what it draws depends on the sample alone.
#include "distributed/ranked_axes.hpp"
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"

#include <monomorph/train/commands/run_recipe.hpp>

namespace monomorph::testing {
namespace {

template <class Strategy> struct Masked : Shrunk<1> {
  using sharding = Strategy;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<49>;
};

/// In the fixed tree, with eight sequences a step.
template <class Strategy> Outcome trained(int ranks, double mask_fraction = 0.3) {
  train::RecipeProgram program = detail::program_of<Masked<Strategy>>();
  program.hparams.objective.as<objective::MaskedTokensHparams>().mask_fraction.value = mask_fraction;
  return train(program, {ranks, 8 / ranks, true}, {.steps = 4});
}

}  // namespace

TEST_CASE("masked tokens give the same bits on 1, 2 and 4 ranks, recomputed or not") {
  const Outcome one = trained<sharding::Replicate>(1);
  CHECK(same_bits(trained<sharding::Replicate>(2), one));
  CHECK(same_bits(trained<sharding::ShardGradOp>(2), one));
  CHECK(same_bits(trained<sharding::FullShard>(4), one));
  CHECK_FALSE(same_bits(trained<sharding::Replicate>(1, 0.4), one));
}

}  // namespace monomorph::testing
