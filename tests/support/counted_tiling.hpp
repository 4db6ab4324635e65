#pragma once
#include <monomorph/spec/region_run.hpp>

#include <optional>
#include <span>
#include <vector>

namespace monomorph::testing {

/// As runtime::first_not_held_once, by counting at every element.
inline std::optional<std::int64_t> first_not_counted_once(const Dims& shape, std::span<const RegionRun> runs) {
  const Region tensor = Region::whole(shape);
  std::vector<int> times(static_cast<std::size_t>(tensor.elements()));
  for (const RegionRun& run : runs)
    for (std::int64_t i = run.first; i < run.end(); ++i)
      ++times[static_cast<std::size_t>(tensor.element_at(run.region.place_of(i)))];
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] != 1) return static_cast<std::int64_t>(i);
  return std::nullopt;
}

}  // namespace monomorph::testing
