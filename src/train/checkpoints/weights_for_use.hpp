#pragma once
#include <monomorph/runtime/files/checkpoint_reader.hpp>

namespace monomorph::train {

/// Whether a checkpoint has moving averages of its weights, by which a model is used in their place (name_for_use).
bool has_average(const runtime::CheckpointReader& checkpoint);

}  // namespace monomorph::train
