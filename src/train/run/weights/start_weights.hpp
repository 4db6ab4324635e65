#pragma once
#include "train/weights/load_weights.hpp"

#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Looks at what a new run starts from, if `weights.from` names something, without reading more weights than lie there
/// twice, which are compared.
/// @return in what the models differ, a line each
/// @throws UsageError [WEIGHTS-02] to [WEIGHTS-09], [WEIGHTS-15], [RUN-03]
std::vector<std::string> check_start_weights(const RecipeProgram& recipe, const Hparams& hparams);

/// Puts these weights in the place of a step's parameters. All ranks call this, and each reads what it holds.
/// @return for the user, a line each   @throws as check_start_weights and open_together
std::vector<std::string> load_start_weights(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                                            Communicator& communicator);

/// Adds what other ranks have counted, together as "what other ranks hold": of each element once, as many ranks may
/// have copies of it.
NonFiniteNumbers of_all_ranks(NonFiniteNumbers numbers, Communicator& communicator);

}  // namespace monomorph::train
