#pragma once
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::cuda {

/// The number of the rank's GPU, when every rank has found one of its own. All ranks call it. A launcher may show all
/// GPUs to all ranks of a machine, or each rank its own alone.   @param key in the world's store, used for nothing else
/// @throws UsageError [RANK-15] this rank has none, [RANK-26] two ranks have the same; Error [RANK-05] a rank does not
///   come
int gpu_of_rank(const World& world, const std::string& key);

}  // namespace monomorph::cuda
