#include "train/rank_work.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/memory.hpp>

#include <fmt/format.h>

namespace monomorph::train {

std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks) {
  return hparams.batch.global_batch / (hparams.batch.micro_batch * ranks);
}

int tree_levels(const Hparams& hparams, int ranks) {
  const bool in_tree = hparams.batch.reduction.value == ReductionOrder::fixed_tree;
  return in_tree ? plan::tree_levels(micro_batches_per_rank(hparams, ranks)) : 0;
}

void check_fixed_tree(const RecipeProgram& recipe, const Hparams& hparams) {
  if (hparams.batch.reduction.value != ReductionOrder::fixed_tree || recipe.reduce_dtype == recipe.gradient_dtype)
    return;
  throw UsageError(fmt::format(
      "[RANK-09] batch.reduction = \"fixed_tree\" must have gradients that travel in {} as they accumulate, "
      "and {} rounds them to {} between ranks; take a precision that does not, or \"any_order\"",
      name_of(recipe.gradient_dtype), recipe.name, name_of(recipe.reduce_dtype)));
}

}  // namespace monomorph::train
