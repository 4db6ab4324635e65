#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::train {

enum class OnDamage { fail, warn };

/// Loads a checkpoint into a step, and returns the state of its run. All ranks call it.
/// @return with OnDamage::warn absent on all ranks if some rank finds the checkpoint damaged, of which that rank warns;
///   the step may hold parts of it then, so that another checkpoint must be loaded before it is used
/// @throws as restore_run; [RANK-08] another rank failed
std::optional<RunState> resumed_state(const std::string& checkpoint, const RecipeProgram& recipe,
                                      const Hparams& hparams, TrainingStep& step, Communicator& communicator,
                                      OnDamage on_damage);

/// A checkpoint that a run has gone back to.
struct EarlierCheckpoint {
  std::string path;
  RunState state;
};

/// Loads the latest checkpoint of a run that is whole, as rank 0 finds it, into the step. All ranks call it.
/// @param samples that the run has drawn, a number by which ranks know this search from others
/// @return absent if the run has no checkpoint: then the step is as it was
/// @throws Error [CHECKPOINT-05] all that the run has are damaged; as resumed_state
std::optional<EarlierCheckpoint> load_earlier(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                                              TrainingStep& step, Communicator& communicator, std::int64_t samples);

}  // namespace monomorph::train
