#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// Whether a run starts afresh or resumes from a checkpoint. This is decided before anything is read or created, by
/// rank 0, because other machines may not share the run folder.
struct ResumeDecision {
  std::optional<std::string> checkpoint;  ///< to resume from; absent: the run starts afresh
  std::vector<std::string> notes;         ///< for the user, one line each
};

/// @param damaged a checkpoint that turned out to be damaged: the run resumes from an earlier one
/// @throws UsageError [RUN-01] the folder holds another run; [RUN-03], [RUN-04], [WEIGHTS-10] the checkpoint can't be
///   gone on from;
///   Error [CHECKPOINT-05] there is none before the damaged one
ResumeDecision resolve_resume(const RecipeProgram& recipe, const Hparams& hparams,
                              const std::optional<std::string>& damaged = std::nullopt);

/// Rank 0 decides for all ranks: all resume from the checkpoint that it has found.   @throws as resolve_resume, on rank
/// 0
ResumeDecision resolve_resume_together(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                                       const std::optional<std::string>& damaged = std::nullopt);

/// The latest whole checkpoint of the run, as rank 0 finds it, for all ranks; nothing if there is none. Rank 0 warns of
/// broken ones of later steps.
/// @param samples that the run has drawn, a number by which ranks know this search from others
/// @param damaged a checkpoint that turned out to be damaged: an earlier one is taken
/// @throws Error [CHECKPOINT-05] on rank 0: there is none before the damaged one
std::optional<std::string> latest_together(const Hparams& hparams, const World& world, std::int64_t samples,
                                           const std::optional<std::string>& damaged = std::nullopt);

/// Adds a note if the machine may not have enough memory at present.   @throws [RUN-16]
void note_memory(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                 std::vector<std::string>& notes);

}  // namespace monomorph::train
