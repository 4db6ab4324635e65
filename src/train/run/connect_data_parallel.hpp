#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// The communicator of a run's data-parallel ranks, on the recipe's device.   @throws as recipe.connect
inline Owned<Communicator> connect_data_parallel(const RecipeProgram& recipe, const Hparams& hparams,
                                                 const World& world) {
  const RankGroup data = world.groups(recipe.mesh).data;
  return recipe.connect(world, data,
                        {.shards = recipe.optimizer_shards(data.size()),
                         .wire = recipe.reduce_dtype,
                         .in_fixed_tree = hparams.batch.reduction.value == ReductionOrder::fixed_tree});
}

}  // namespace monomorph::train
