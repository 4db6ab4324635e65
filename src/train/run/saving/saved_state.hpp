#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::train {

/// Where a run stood when it saved a checkpoint. A correct checksum does not prove that the numbers are possible, so
/// they are checked: a run can have saved each beside the others, and there is room to count on from it.
/// @param checkpoint its folder, named in errors only
/// @param best by which the best is chosen from now on: RunState::best_evaluation is absent if the run had none of it
/// @throws Error [CHECKPOINT-03] naming the field
RunState saved_state(const runtime::CheckpointMetadata& metadata, const std::string& checkpoint,
                     std::int64_t context_length, const std::optional<runtime::BestCounter>& best = std::nullopt);

}  // namespace monomorph::train
