#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// The communicator of the data-parallel ranks, on the recipe's device.   @throws as recipe.connect
inline Owned<Communicator> connect_data_parallel(const RecipeProgram& recipe, const World& world,
                                                 ReductionOrder order = ReductionOrder::any_order) {
  const RankGroup data = world.groups(recipe.mesh).data;
  return recipe.connect(world, data,
                        {.shards = recipe.optimizer_shards(data.size()),
                         .wire = recipe.reduce_dtype,
                         .in_fixed_tree = order == ReductionOrder::fixed_tree});
}
/// The same, in the order of sums that a run's hyperparameters ask for.
inline Owned<Communicator> connect_data_parallel(const RecipeProgram& recipe, const Hparams& hparams,
                                                 const World& world) {
  return connect_data_parallel(recipe, world, hparams.batch.reduction.value);
}

}  // namespace monomorph::train
