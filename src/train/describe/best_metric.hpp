#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// Which value of checkpoint.best_metric is the best: as checkpoint.best_is says, or as is known of the metric;
/// `automatic` if it is not.
BestValue best_value(const CheckpointHparams& hparams);

/// @throws UsageError [HPARAM-23] evaluations of the recipe do not report checkpoint.best_metric; [HPARAM-24] which of
/// its values is the best is neither known nor given
void check_best_metric(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
