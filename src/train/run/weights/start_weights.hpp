#pragma once
#include "train/weights/load_weights.hpp"

#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Looks at what a new run starts from, if `weights.from` names something, without reading weights.
/// @return in what the models differ, a line each   @throws UsageError [WEIGHTS-02] to [WEIGHTS-09], [RUN-03]
std::vector<std::string> check_start_weights(const RecipeProgram& recipe, const Hparams& hparams);

/// Puts these weights in the place of a step's parameters. All ranks call this, and each reads what it holds.
/// @return for the user, a line each   @throws as check_start_weights
std::vector<std::string> load_start_weights(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                                            Communicator& communicator);

/// Adds up the counts of all ranks by tensor. Tensors in which only other ranks found some are together "other ranks".
NonFiniteNumbers of_all_ranks(NonFiniteNumbers numbers, Communicator& communicator);

}  // namespace monomorph::train
