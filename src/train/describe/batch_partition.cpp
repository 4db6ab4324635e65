#include "train/describe/batch_partition.hpp"

#include "train/describe/best_metric.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/memory.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace monomorph::train {
namespace {

void check_fixed_tree(const RecipeProgram& recipe, const Hparams& hparams) {
  if (hparams.batch.reduction.value != ReductionOrder::fixed_tree) return;
  if (recipe.reduce_dtype != recipe.gradient_dtype)
    throw UsageError(
        "RANK-09",
        fmt::format("batch.reduction = \"fixed_tree\" must have gradients that travel in {} as they accumulate, "
                    "and {} rounds them to {} between ranks; take a precision that does not, or \"any_order\"",
                    name_of(recipe.gradient_dtype), recipe.name, name_of(recipe.reduce_dtype)));
  if (recipe.output == ModelOutput::embeddings)
    throw UsageError(
        "RANK-24", fmt::format("batch.reduction = \"fixed_tree\" must have an objective over tokens, and that of {} "
                               "compares the samples of all ranks, so that its bits depend on how many there are; take "
                               "\"any_order\"",
                               recipe.name));
}

}  // namespace

std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks) {
  return hparams.batch.global_batch / (micro_batch_of(hparams) * ranks);
}

int tree_levels(const Hparams& hparams, int ranks) {
  const bool in_tree = hparams.batch.reduction.value == ReductionOrder::fixed_tree;
  return in_tree ? plan::tree_levels(micro_batches_per_rank(hparams, ranks)) : 0;
}

void check_groups(const RecipeProgram& recipe, int ranks) {
  const auto [tp, pp, cp] = recipe.mesh;
  const int group = std::max(1, recipe.optimizer_shards(std::max(1, ranks / recipe.mesh.model_parallel())));
  const int factor = recipe.mesh.model_parallel() * group;
  if (ranks % factor == 0) return;
  const int below = ranks / factor * factor;
  throw UsageError(
      "RANK-17",
      fmt::format(
          "the ranks must be a multiple of tp x pp x cp x ranks of a group of the recipe's sharding = {} x {} x "
          "{} x {} = {}, and are {}; start {}{}",
          tp.value, pp.value, cp.value, group, factor, ranks, below > 0 ? fmt::format("{} or ", below) : "",
          below + factor));
}

void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks, Mistakes& mistakes) {
  if (!mistakes.check([&] { check_groups(recipe, ranks); })) mistakes.doubt(ranks_field);
  validate(hparams, ranks, mistakes);
  mistakes.check({"checkpoint.best_metric", "checkpoint.best_is", "data.tokenizer"},
                 [&] { check_best_metric(recipe, hparams); });
  mistakes.check({"batch.reduction", ranks_field}, [&] { check_fixed_tree(recipe, hparams); });
}

void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  Mistakes mistakes;
  check_ranks(recipe, hparams, ranks, mistakes);
  mistakes.throw_if_any();
}

}  // namespace monomorph::train
