#pragma once
#include "simulator/training_rank.hpp"

#include <string_view>
#include <vector>

namespace monomorph::testing {

/// The trainings of the recipes of the covering set, without their types, in its order: on a device as of
/// simulated_rank.
using CoveredTraining = void (*)(std::string_view device, const World& world, const Task& task);
inline constexpr int n_covered_parts = 9;  // as CMakeLists.txt has
/// Those of a part of the set: one translation unit has as many recipes as compile at once.
template <int part> std::vector<CoveredTraining> trainings_of_part();

}  // namespace monomorph::testing
