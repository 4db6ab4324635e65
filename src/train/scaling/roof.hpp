#pragma once
#include "train/scaling/step_prediction.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/machine/device_use.hpp>

#include <optional>

/// The roof: the least time that a step could take on paper.
namespace monomorph::train {

/// Of a run on GPUs of a data sheet: predict(), with nothing lost. Products and attention run at the peak. Every
/// activation that backward reads is written once and read once, and parameters, gradients and state move once, at the
/// bandwidth of the memory. Collectives have the whole bandwidth of their links, and no kernel is slower beside them.
double roof_seconds(const plan::PlannedRecipe& recipe, const PlannedRun& run);

/// Of a run that goes on, with the recipe's own strategy.   @param use of a rank's device
/// @return absent on processors, on a GPU that no data sheet here is of, and where ranks lie on several machines, whose
/// network is not known
std::optional<double> roof_seconds(const plan::PlannedRecipe& recipe, const DeviceUse& use, LaunchedRanks ranks,
                                   std::int64_t micro_batch, std::int64_t micro_batches);

}  // namespace monomorph::train
