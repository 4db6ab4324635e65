#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <cstdint>
#include <string>

namespace monomorph::train {

/// Where a run stood when it saved a checkpoint. A correct checksum does not prove that the numbers are possible, so
/// they are checked: a run can have saved each beside the others, and there is room to count on from it.
/// @param checkpoint its folder, named in errors only
/// @throws Error [CHECKPOINT-03] naming the field
RunState saved_state(const runtime::CheckpointMetadata& metadata, const std::string& checkpoint,
                     std::int64_t context_length);

}  // namespace monomorph::train
