// An objective that prepares samples gives the bits of one rank on several: what it draws depends on the sample alone.
// So does one over sequences, as a rank has a sample whole.
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

namespace {

template <class Strategy, class Base> struct Preferring : Base {
  using sharding = Strategy;
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = monomorph::objective::Preferences;
};
struct Adapted : Shrunk<1> {
  using finetuning = monomorph::finetuning::LowRank<LowRankSpec{.rank = 2, .dropout = 0.1}>;
};

template <class Strategy, class Base> Outcome preferring(int ranks) {
  const train::RecipeProgram program = detail::program_of<Preferring<Strategy, Base>>();
  return train(program, {ranks, 8 / ranks, true}, {.steps = 4});
}

}  // namespace

TEST_CASE("preferences give the same bits on 1, 2 and 4 ranks, of all parameters and of adapters") {
  const Outcome one = preferring<sharding::Replicate, Shrunk<1>>(1);
  CHECK(same_bits(preferring<sharding::ShardOptimizer, Shrunk<1>>(2), one));
  CHECK(same_bits(preferring<sharding::FullShard, Shrunk<1>>(4), one));
  CHECK(same_bits(preferring<sharding::FullShard, Adapted>(4), preferring<sharding::Replicate, Adapted>(1)));
}

}  // namespace monomorph::testing
