#pragma once
#include <monomorph/spec/region.hpp>

namespace monomorph {

/// Consecutive elements of a region, in the order of the region's own rows: the shard of it that a rank holds.
struct RegionRun {
  Region region;
  std::int64_t first = 0;  ///< element of the region
  std::int64_t n = region.elements() - first;

  static constexpr RegionRun whole(const Dims& shape) { return {Region::whole(shape)}; }
  constexpr std::int64_t end() const { return first + n; }
  /// Whether the region is one of a tensor of this shape, and the run one of the region.
  constexpr bool fits(const Dims& shape) const {
    return region.fits(shape) && first >= 0 && n >= 0 && first <= region.elements() && n <= region.elements() - first;
  }
  friend constexpr auto operator<=>(const RegionRun&, const RegionRun&) = default;
};

/// The smallest region that holds a run.   @param run not empty
constexpr Region region_around(const RegionRun& run) {
  Region box = run.region;
  std::int64_t first = run.first, last = run.end() - 1, stride = run.region.elements();
  for (int d = 0; d < box.dimensions(); ++d) {
    stride /= run.region.extents[d];
    box.offsets[d] += first / stride;
    box.extents[d] = last / stride - first / stride + 1;
    if (box.extents[d] > 1) break;  // the run goes over an edge of the further dimensions
    first %= stride;
    last %= stride;
  }
  return box;
}

/// Calls `visit(left_element, right_element, n)` for each piece that is consecutive in both of two runs of one tensor:
/// n elements of the left region from left_element on are those of the right one from right_element on. In rising
/// order; rows that both regions hold from edge to edge are one piece. If the right run is RegionRun::whole, this says
/// where in the tensor the elements of the left run lie.
/// @param left, right of a tensor of at least one dimension
template <class Visit>
constexpr void for_each_shared_piece(const RegionRun& left, const RegionRun& right, Visit visit) {
  if (left.n == 0 || right.n == 0) return;
  const Region shared = intersection(region_around(left), region_around(right));
  if (shared.elements() == 0) return;
  int d = shared.dimensions() - 1;
  std::int64_t length = shared.extents[d];
  Region starts = shared;
  starts.extents[d] = 1;
  while (d > 0 && shared.extents[d] == left.region.extents[d] && shared.extents[d] == right.region.extents[d]) {
    length *= shared.extents[--d];
    starts.extents[d] = 1;
  }
  for (std::int64_t i = 0, n = starts.elements(); i < n; ++i) {
    const Dims place = starts.place_of(i);
    const std::int64_t in_left = left.region.element_at(place), in_right = right.region.element_at(place);
    const std::int64_t begin = larger_of(0, larger_of(left.first - in_left, right.first - in_right));
    const std::int64_t end = smaller_of(length, smaller_of(left.end() - in_left, right.end() - in_right));
    if (begin < end) visit(in_left + begin, in_right + begin, end - begin);
  }
}

}  // namespace monomorph
