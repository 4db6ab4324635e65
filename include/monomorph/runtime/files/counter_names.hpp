#pragma once

/// Counters of checkpoints (CheckpointMetadata::counters) that others than the run ask for.
namespace monomorph::runtime {

/// The loss of an evaluation of what was saved, if there was one.
inline constexpr const char* evaluation_loss_counter = "evaluation_loss";
/// The lowest that the run has had so far.
inline constexpr const char* lowest_evaluation_loss_counter = "lowest_evaluation_loss";
/// DeviceUse::product_table of the run, unless it is 0.
inline constexpr const char* product_table_counter = "product_table";
/// RunState::teacher of the run, unless it is 0.
inline constexpr const char* teacher_counter = "teacher";
/// Only checkpoints without the optimiser's state have it.
inline constexpr const char* weights_alone_counter = "weights_alone";

}  // namespace monomorph::runtime
