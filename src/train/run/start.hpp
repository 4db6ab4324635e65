#pragma once
#include "train/run/data/run_data.hpp"
#include "train/run/resume.hpp"
#include "train/run/saving/staging.hpp"

#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <memory>
#include <string>

namespace monomorph::train {

/// What a run has before its first step.
struct Start {
  Hparams hparams;  ///< with a number in the place of every word that is left to the program
  ResumeDecision resume;
  RunData data;
  Owned<TrainingStep> step;
  std::unique_ptr<StagedState> staged;
  RunState state;
};

/// Everything that can fail before the first step. Rank 0 has the run's folders by now. Collective.
/// @param memory_snapshot_file to write; may be empty
Start start_run(const RecipeProgram& recipe, Hparams hparams, const World& world, Communicator& communicator,
                const std::string& memory_snapshot_file);

}  // namespace monomorph::train
