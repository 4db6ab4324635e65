#pragma once
#include <cstdint>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// What a rank is about to train.
struct RankConfig {
  std::string fingerprint;      ///< of the recipe
  std::string hyperparameters;  ///< JSON, complete
};

/// Empty if all ranks are about to train the same; otherwise one line that names the ranks that differ from most, and
/// in what.
std::string describe_mismatch(const std::vector<RankConfig>& ranks);

/// Compares all ranks' recipes and hyperparameters.
/// @throws UsageError [RANK-06] they differ: the same line on every rank
void check_config_consistency(const World& world, const RecipeProgram& recipe, const Hparams& hparams);

/// The checkpoint that a rank has read, whatever its path.
struct CheckpointIdentity {
  std::int64_t step = 0;
  std::int64_t checksum = 0;  ///< of the checksums of its files
};

/// The same for the checkpoints that ranks have read.
std::string describe_mismatch(const std::vector<CheckpointIdentity>& ranks);

/// Checks that all ranks have read the same checkpoint, as the same path may lead to another disk on each machine.
/// @throws [RANK-20] they differ: the same line on every rank; [RANK-08]; as runtime::read_checkpoint_metadata
void check_same_checkpoint(Communicator& communicator, const std::optional<std::string>& checkpoint);

}  // namespace monomorph::train
