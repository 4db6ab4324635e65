#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>
#include <vector>

/// The state of a step as a checkpoint has it.
namespace monomorph::train {

/// What a rank holds of the parameters, and if asked of the optimiser's state as well.
std::vector<StateTensor> all_state(TrainingStep& step, bool of_optimizer);

/// The shape of a tensor in a file.
std::vector<std::int64_t> file_shape(Shape shape);

/// What a rank saves of a tensor, for the caller to say where its bytes come from.
runtime::PartToSave part_of(const StateTensor& tensor);

}  // namespace monomorph::train
