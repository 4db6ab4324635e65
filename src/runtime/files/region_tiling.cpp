#include "region_tiling.hpp"

#include <algorithm>
#include <bit>

namespace monomorph::runtime {
namespace {

/// How often each element of a tensor is held, as its differences along every dimension: a box then is not its elements
/// but its corners, with alternating signs. Counts are equal if their differences are. At the first place of a
/// difference, in the order of rows, the count itself differs from zero, and nowhere before.
class HeldCounts {
 public:
  void add_box(const Region& box, std::int64_t times) {
    for (unsigned corner = 0; corner < 1u << box.dimensions(); ++corner) {
      Dims place = box.offsets;
      for (int d = 0; d < box.dimensions(); ++d)
        if ((corner >> d & 1) != 0) place[d] += box.extents[d];
      differences_.push_back({place, std::popcount(corner) % 2 == 0 ? times : -times});
    }
  }
  /// The first n elements of a region: as many whole slices as there are, then rows of the next slice, and so on.
  void add_first(const Region& region, std::int64_t n, std::int64_t times) {
    Region rest = region;
    std::int64_t stride = region.elements();
    for (int d = 0; d < region.dimensions() && n > 0; ++d) {
      stride /= region.extents[d];
      Region slices = rest;
      slices.extents[d] = n / stride;
      if (slices.extents[d] > 0) add_box(slices, times);
      rest.offsets[d] += n / stride;
      rest.extents[d] = 1;
      n %= stride;
    }
  }
  std::optional<Dims> first_difference() {
    std::ranges::sort(differences_, {}, &Difference::place);
    for (auto begin = differences_.begin(); begin != differences_.end();) {
      const auto end =
          std::find_if(begin, differences_.end(), [&](const auto& it) { return it.place != begin->place; });
      std::int64_t sum = 0;
      for (auto it = begin; it != end; ++it) sum += it->times;
      if (sum != 0) return begin->place;
      begin = end;
    }
    return std::nullopt;
  }

 private:
  struct Difference {
    Dims place;
    std::int64_t times;
  };
  std::vector<Difference> differences_;
};

/// With runs of one region that follow each other joined, which leaves little of a tensor that ranks hold in shards.
std::vector<RegionRun> joined(std::vector<RegionRun> runs) {
  std::erase_if(runs, [](const RegionRun& run) { return run.n == 0; });
  std::ranges::sort(runs);
  std::vector<RegionRun> joined;
  for (const RegionRun& run : runs)
    if (!joined.empty() && joined.back().region == run.region && joined.back().end() == run.first)
      joined.back().n += run.n;
    else
      joined.push_back(run);
  return joined;
}

}  // namespace

std::optional<std::int64_t> first_not_held_once(const Dims& shape, std::vector<RegionRun> runs) {
  const Region whole = Region::whole(shape);
  HeldCounts counts;
  counts.add_first(whole, whole.elements(), -1);
  for (const RegionRun& run : joined(std::move(runs))) {
    counts.add_first(run.region, run.end(), 1);
    counts.add_first(run.region, run.first, -1);
  }
  const auto place = counts.first_difference();
  return place ? std::optional(whole.element_at(*place)) : std::nullopt;
}

}  // namespace monomorph::runtime
