#pragma once
#include <monomorph/train/describe/memory_regions.hpp>
#include <monomorph/train/describe/teacher_regions.hpp>
#include <monomorph/train/step/state.hpp>

#include <algorithm>
#include <string>

namespace monomorph::testing {

namespace detail {
inline bool overlap(std::int64_t begin, std::int64_t end, std::int64_t other_begin, std::int64_t other_end) {
  return begin < other_end && other_begin < end;
}
inline std::string text_of(const train::MemoryRegion& region) {
  return std::string(region.what) + " of layer " + std::to_string(region.layer) + " at " +
         std::to_string(region.offset);
}

/// Two regions that are in use at the same time, and share bytes.
inline std::string clash(const std::vector<train::MemoryRegion>& regions) {
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const train::MemoryRegion &a = regions[i], &b = regions[j];
      if (a.arena == b.arena && overlap(a.phases.first, a.phases.last + 1, b.phases.first, b.phases.last + 1) &&
          overlap(a.offset, a.offset + a.bytes, b.offset, b.offset + b.bytes))
        return text_of(a) + " clashes with " + text_of(b);
    }
  return "";
}

/// Whether the regions of an arena leave nothing out, but for what pads a buffer, and for the rest of a slot that is as
/// long as the longest unit and has shorter ones in it.
inline bool fill(std::vector<train::MemoryRegion> regions, MemorySpace space, const Arena& arena) {
  constexpr std::int64_t most_padding = 64 * 8;
  std::erase_if(regions, [&](const train::MemoryRegion& region) { return region.arena != space; });
  std::ranges::sort(regions, {}, &train::MemoryRegion::offset);
  std::int64_t end = 0;
  bool ends_in_slot = false;
  for (const train::MemoryRegion& region : regions) {
    if (region.offset > end + most_padding && !ends_in_slot) return false;
    if (region.offset + region.bytes > end)
      ends_in_slot = region.what == "gathered parameters" || region.what == "gradients";
    end = std::max(end, region.offset + region.bytes);
  }
  return end <= arena.bytes() && arena.bytes() <= end + most_padding;
}

/// A view of a layer that no region has; empty if there is none.
inline std::string misplaced(const std::vector<train::MemoryRegion>& regions, const Arena& arena, const View& view,
                             int layer, const std::string& what) {
  if (!view.present() || view.data < arena.data() || view.data >= arena.data() + arena.bytes()) return "";
  const bool found = std::ranges::any_of(regions, [&](const train::MemoryRegion& region) {
    return region.arena == MemorySpace::device && region.layer == layer && region.what.ends_with(what) &&
           arena.data() + region.offset == view.data && region.bytes >= view.bytes();
  });
  return found ? "" : what + " of layer " + std::to_string(layer) + " lies elsewhere";
}
}  // namespace detail

/// What is wrong with the regions of the plan, compared with where a step has its memory; empty if nothing is.
template <Recipe R>
std::string wrong_regions(const train::State<R>& state, int ranks, std::int64_t micro_batch, int tree_levels = 0) {
  const std::vector<train::MemoryRegion> regions = train::memory_regions<R>(ranks, micro_batch, tree_levels);
  std::string wrong = detail::clash(regions);
  if (!detail::fill(regions, MemorySpace::device, state.arena())) wrong += "; the arena is not filled";
  if (!detail::fill(regions, MemorySpace::host, state.host_arena())) wrong += "; the host's arena is not filled";
  for (int u = 0; u < plan::n_units<R>; ++u) {
    wrong += detail::misplaced(regions, state.arena(), state.parameters.whole(u), u, "parameters");
    wrong += detail::misplaced(regions, state.arena(), state.gradients.whole(u), u, "gradients");
  }
  for (int layer = 0; layer < plan::last_layer<R>; ++layer)
    wrong += detail::misplaced(regions, state.arena(), state.activations.y_MD(layer), layer, "output");
  return wrong;
}

/// The same of its teacher, which has been taken.
template <Recipe R>
std::string wrong_teacher_regions(const train::Teacher<R>& teacher, int ranks, std::int64_t micro_batch) {
  const std::vector<train::MemoryRegion> regions = train::teacher_regions<R>(ranks, micro_batch, 0);
  std::string wrong = detail::clash(regions);
  if (!detail::fill(regions, MemorySpace::device, teacher.arena())) wrong += "; the arena is not filled";
  if (!detail::fill(regions, MemorySpace::host, teacher.host_arena())) wrong += "; the host's arena is not filled";
  wrong += detail::misplaced(regions, teacher.arena(), teacher.views().in_MD, -1, "that the loss compares");
  return wrong;
}

}  // namespace monomorph::testing
