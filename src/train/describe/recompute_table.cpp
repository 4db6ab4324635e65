#include "train/describe/recompute_table.hpp"

#include "train/describe/recompute_choices.hpp"

#include <monomorph/core/quantity_text.hpp>

namespace monomorph::train {
namespace {

/// Bytes for a token, of which there may be no whole number where buffers are rounded up.
double kept_bytes(const plan::PlannedRecipe& recipe, Recompute again) {
  double bytes = 0;
  for (int layer = 0; layer < recipe.n_layers; ++layer) {
    const plan::RecomputedWork work = recipe.recomputed_work(layer, again);
    bytes += work.elements * static_cast<double>(size_of(recipe.compute_dtype)) +
             work.statistics * static_cast<double>(size_of(statistics_dtype(recipe.compute_dtype)));
  }
  return bytes;
}

/// "", or in how many blocks the recipe's policy makes the choice.
std::string chosen_text(const RecipeProgram& recipe, bool Recompute::*choice) {
  const plan::CheckpointingValues policy = recipe.planned.strategy(1).checkpointing;
  int n = 0;
  for (int block = 0; block < recipe.n_blocks; ++block) n += policy.recompute(block).*choice ? 1 : 0;
  if (n == 0) return "";
  return n == recipe.n_blocks ? ", computed again"
                              : fmt::format(", computed again in {} of {} blocks", n, recipe.n_blocks);
}

}  // namespace

void recompute_table(Text& text, const RecipeProgram& recipe, std::int64_t micro_batch) {
  if (kept_bytes(recipe.planned, Recompute::block) == 0) return;
  const double n_tokens = static_cast<double>(micro_batch * recipe.model->context_length),
               exact = recipe.flops(micro_batch, 1).exact;
  print(text, "activations of blocks that backward may compute again, by choice\n");
  print(text, "  {:<44}{:>16}{:>18}\n", "", "kept of blocks", "FLOPs per token");
  const auto row = [&](const std::string& name, Recompute again) {
    const double flops = total_work(recipe.planned, again).flops;
    print(text, "  {:<44}{:>16}{:>18}{}\n", name,
          format_bytes(static_cast<std::int64_t>(n_tokens * kept_bytes(recipe.planned, again))),
          format_number(static_cast<std::int64_t>(flops)),
          flops > 0 ? fmt::format(" ({:.1f} %)", 1e2 * flops / exact) : "");
  };
  for (const auto& [name, choice] : recompute_choices) {
    Recompute again;
    again.*choice = true;
    if (kept_bytes(recipe.planned, again) > 0) row(std::string(name) + chosen_text(recipe, choice), again);
  }
  row("all, and what belongs to no choice", Recompute::block);
}

}  // namespace monomorph::train
