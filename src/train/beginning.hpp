#pragma once
#include <monomorph/runtime/world.hpp>
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>

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

/// @throws UsageError [RUN-01] the folder holds another run; [RUN-03], [RUN-04] the checkpoint can't be gone on from;
Beginning begin(const RecipeProgram& recipe, const Hparams& hparams);

/// Rank 0 begins, and the others with it: all go on from the checkpoint that it has found.   @throws as begin, on rank
/// 0
Beginning begin_together(const RecipeProgram& recipe, const Hparams& hparams, const World& world);

/// The machine has the memory, or it is said in a note.   @throws [RUN-16]
void note_memory(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                 std::vector<std::string>& notes);

}  // namespace monomorph::train
