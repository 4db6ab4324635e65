#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// Which value of checkpoint.best_metric is the best: as checkpoint.best_is says, or the metric itself; `unsaid` if
/// neither does.
BestValue best_value(const RecipeProgram& recipe, const Hparams& hparams);

/// @throws UsageError [HPARAM-23] evaluations of the recipe do not report checkpoint.best_metric; [HPARAM-24] which of
/// its values is the best is not said
void check_best_metric(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
