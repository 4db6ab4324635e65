#pragma once
#include <monomorph/runtime/files/best_counter.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// By what the best checkpoint of a run is told; absent if the run does not keep its best.
std::optional<runtime::BestCounter> best_counter(const RecipeProgram& recipe, const Hparams& hparams);

/// What a checkpoint says of its own state by this; absent if that was not evaluated, or can't be read.
std::optional<double> evaluation_of(const std::string& checkpoint, const runtime::BestCounter& best);

/// A line if the run of a checkpoint has gone by something else so far.
std::optional<std::string> note_other_best(const std::string& checkpoint, const RecipeProgram& recipe,
                                           const Hparams& hparams);

}  // namespace monomorph::train
