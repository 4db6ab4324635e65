#pragma once
#include "train/run/data/held_out_sets.hpp"

#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// The sets of a run over sequences, of training and of evaluation, each once.
/// @throws UsageError what is wrong with a file
HeldOutSets open_reference_sets(const RecipeProgram& recipe, const Hparams& hparams, Reference reference);

/// Scores the first samples of each set by the weights that a new run starts from. All ranks call this. Nothing is done
/// where the objective is not over sequences.
/// @throws UsageError [PREF-12] what lies beside a set is of other weights
void check_reference(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                     Communicator& communicator);

}  // namespace monomorph::train
