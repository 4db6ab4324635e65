#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Looks at what teacher.from names, without reading more of it than lies there twice.
/// @return for the user, a line each
/// @throws UsageError [TEACHER-01] the recipe's objective has a teacher, and teacher.from names none; [TEACHER-02] it
///   has none, and teacher.from names one; as open_weights, check_tensors and
///   WeightsSource::check_copies
std::vector<std::string> check_teacher(const RecipeProgram& recipe, const Hparams& hparams);

/// Reads the teacher that the recipe's objective has, if it has one. Each rank reads what it holds.
/// @param state whose teacher is compared with what was read, and takes its place; 0 is that of nobody
/// @param is_resumed whether the state is a checkpoint's
/// @return for the user, a line each
/// @throws as check_teacher and open_together; UsageError [TEACHER-03] the run began with another teacher
std::vector<std::string> load_teacher(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                                      Communicator& communicator, RunState& state, bool is_resumed);

}  // namespace monomorph::train
