#include <monomorph/train/check.hpp>

#include "train/beginning.hpp"
#include "train/rank_work.hpp"
#include "train/run_data.hpp"
#include "train/run_memory.hpp"

#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

namespace monomorph::train {

std::string check(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks) {
  validate(hparams, ranks.all);
  check_fixed_tree(recipe, hparams);
  Beginning beginning = begin(recipe, hparams);
  note_memory(recipe, hparams, ranks, beginning.notes);
  const RunData data(recipe, hparams);
  if (beginning.checkpoint) data.check_same_files(*beginning.checkpoint);
  const std::int64_t batch = hparams.batch.global_batch;
  std::string text = fmt::format(
      "recipe {} accepts these hyperparameters\n  steps {}, {} tokens each\n{}  planned memory {}{}\n  held-out "
      "targets "
      "{}\n  {}\n",
      recipe.name, hparams.run.steps.value, batch * recipe.model->context_length,
      data.describe_sets(hparams.run.steps * batch), format_bytes(run_memory(recipe, hparams, ranks.all).planned),
      ranks.all == 1 ? "" : fmt::format(" on each of {} ranks", ranks.all),
      data.evaluation ? data.evaluation->n_counted() : 0,
      beginning.checkpoint ? "resumes from " + *beginning.checkpoint : "starts afresh");
  for (const std::string& note : beginning.notes) text += "  " + note + "\n";
  return text;
}

}  // namespace monomorph::train
