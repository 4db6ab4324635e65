#pragma once
#include "train/weights/load_weights.hpp"

#include <monomorph/runtime/comm/communicator.hpp>

#include <functional>
#include <string>

namespace monomorph::train {

/// Opens the weights that rank 0 finds by a path, on all ranks, and compares what each has opened: the path may lead to
/// another disk on each machine, and a run there may save while others look for its latest checkpoint. What lies twice
/// in the weights is compared on rank 0.
/// @param option that names them, for messages   @param open what find_weights has found
/// @throws UsageError [WEIGHTS-16] ranks have opened other weights than rank 0: the same line on every rank;
///   [WEIGHTS-15]; [RANK-08]; as find_weights and `open`
OpenedWeights open_together(const std::string& option, const std::string& path, Communicator& communicator,
                            const std::function<OpenedWeights(const std::string& found)>& open);

}  // namespace monomorph::train
