#include "train/commands/held_out_options.hpp"

#include "train/run/as_usage_error.hpp"
#include "train/run/run_data.hpp"

#include <monomorph/core/error.hpp>

namespace monomorph::train {

void HeldOutOptions::add_to(CLI::App& app, const std::string& data_help, const std::string& unit) {
  CheckpointOptions::add_to(app);
  app.add_option("--data", data, data_help + "; the run's data.evaluation if it is not given");
  add_number(app, "--micro-batch", micro_batch, unit + " at a time (as in the run if it is not given)", {1, 1 << 20});
}

data::EvaluationLoader HeldOutOptions::loader(const RecipeProgram& recipe, const Hparams& hparams) const {
  const std::string file = data.empty() ? hparams.data.evaluation.value : data;
  if (file.empty())
    throw UsageError("RUN-12", "the run of this checkpoint had no data.evaluation; give --data <file.pbin>");
  return as_usage_error("the held-out data", [&] {
    return data::EvaluationLoader(file, recipe.model->context_length, recipe.model->vocab_size,
                                  batch_contents(recipe, hparams.loss.policy));
  });
}

std::int64_t HeldOutOptions::micro_batch_or(const Hparams& hparams) const {
  return micro_batch.value_or(micro_batch_of(hparams));
}

}  // namespace monomorph::train
