#include "train/run/saving/run_metadata.hpp"

#include "train/describe/recipe_facts.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/run/saving/spike_counters.hpp"

#include <monomorph/train/describe/describe.hpp>

namespace monomorph::train {
namespace {

void add_moments(runtime::CheckpointMetadata& metadata, const MomentCounters& names, const RunningMoments& moments) {
  metadata.counters[names.count] = moments.count;
  metadata.counters[names.mean] = moments.mean;
  metadata.counters[names.variance] = moments.variance;
}

}  // namespace

runtime::CheckpointMetadata run_metadata(const RecipeProgram& recipe, const Hparams& hparams, const RunState& state,
                                         int ranks) {
  runtime::CheckpointMetadata metadata;
  metadata.fingerprint = fingerprint_text(recipe.fingerprint);
  metadata.state_fingerprint = fingerprint_text(recipe.state_fingerprint);
  metadata.recipe_facts = recipe_facts(recipe);
  metadata.recipe_description = describe(recipe, ranks, micro_batch_of(hparams));
  metadata.hyperparameters = to_json(hparams);
  metadata.step = state.step;
  metadata.n_tokens = state.tokens;
  metadata.sample_counter = state.samples;
  metadata.counters = {{"updates", state.updates},
                       {"skipped", state.skipped},
                       {"skipped_in_a_row", state.skipped_in_a_row},
                       {"loss_scale", state.loss_scale},
                       {"steps_at_scale", state.steps_at_scale}};
  if (const auto best = best_counter(recipe, hparams); best && state.best_evaluation)
    metadata.counters[best->of_run()] = *state.best_evaluation;
  if (state.product_table != 0) metadata.counters[runtime::product_table_counter] = state.product_table;
  if (state.teacher != 0) metadata.counters[runtime::teacher_counter] = state.teacher;
  if (hparams.spikes.action.value != SpikeAction::none) {
    add_moments(metadata, spike_loss_counters, state.spike_levels.loss);
    add_moments(metadata, spike_norm_counters, state.spike_levels.gradient_norm);
    metadata.counters[rewinds_counter] = state.rewinds;
  }
  return metadata;
}

}  // namespace monomorph::train
