#pragma once
#include <string_view>

/// Counters of checkpoints (CheckpointMetadata::counters) that others than the run ask for.
namespace monomorph::runtime {

/// What an evaluation has found for what was saved, if there was one, by the name that metrics.jsonl has for it, which
/// begins so.
inline constexpr std::string_view evaluation_prefix = "evaluation_";
inline constexpr const char* evaluation_loss_counter = "evaluation_loss";
/// DeviceUse::product_table of the run, unless it is 0.
inline constexpr const char* product_table_counter = "product_table";
/// RunState::teacher of the run, unless it is 0.
inline constexpr const char* teacher_counter = "teacher";
/// Only checkpoints without the optimiser's state have it.
inline constexpr const char* weights_alone_counter = "weights_alone";

}  // namespace monomorph::runtime
