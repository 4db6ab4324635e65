#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// How a run begins, decided before anything is read or created: by rank 0, as only it sees a run folder that another
/// machine does not share.
struct Beginning {
  std::optional<std::string> checkpoint;  ///< that it goes on from
  std::vector<std::string> notes;         ///< for the user, one line each
};

/// @param damaged a checkpoint that turned out to be: the run goes on from an earlier one
/// @throws UsageError [RUN-01] the folder holds another run; [RUN-03], [RUN-04] the checkpoint can't be gone on from;
///   Error [CHECKPOINT-05] there is none before the damaged one
Beginning begin(const RecipeProgram& recipe, const Hparams& hparams,
                const std::optional<std::string>& damaged = std::nullopt);

/// Rank 0 begins, and the others with it: all go on from the checkpoint that it has found.   @throws as begin, on rank
/// 0
Beginning begin_together(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                         const std::optional<std::string>& damaged = std::nullopt);

/// The machine has the memory, or it is said in a note.   @throws [RUN-16]
void note_memory(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                 std::vector<std::string>& notes);

}  // namespace monomorph::train
