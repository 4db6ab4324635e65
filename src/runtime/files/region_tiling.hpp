#pragma once
#include <monomorph/spec/region_run.hpp>

#include <optional>
#include <vector>

namespace monomorph::runtime {

/// The first element of a tensor, in the order of its rows, that lies in none of the runs or in several. Absent if each
/// lies in exactly one. Takes time and memory by the number of runs, whatever sizes they claim.
/// @param runs of a tensor of this shape: each fits it
std::optional<std::int64_t> first_not_held_once(const Dims& shape, std::vector<RegionRun> runs);

}  // namespace monomorph::runtime
