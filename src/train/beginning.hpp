#pragma once
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// How a run begins, decided before anything is read or created.
struct Beginning {
  std::optional<std::string> checkpoint;  ///< that it goes on from
  std::vector<std::string> notes;         ///< for the user, one line each
};

/// @throws UsageError [RUN-01] the folder holds another run; [RUN-03], [RUN-04] the checkpoint can't be gone on from;
///   [RUN-16] the machine has not enough memory
Beginning begin(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
