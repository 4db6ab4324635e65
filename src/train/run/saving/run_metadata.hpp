#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <string_view>

namespace monomorph::train {

inline constexpr std::string_view weights_alone = runtime::weights_alone_counter;

/// What a checkpoint says of its run.
runtime::CheckpointMetadata run_metadata(const RecipeProgram& recipe, const Hparams& hparams, const RunState& state,
                                         int ranks);

}  // namespace monomorph::train
