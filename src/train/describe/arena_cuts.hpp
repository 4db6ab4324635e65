#pragma once
#include <monomorph/train/describe/memory_regions.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// Cuts buffers from the two arenas of a plan, one behind the other, as Arena::take does, and lists what lies in them.
class ArenaCuts {
 public:
  struct Buffer {
    MemorySpace arena;
    std::int64_t offset, element_bytes;
  };
  Buffer cut(MemorySpace arena, std::int64_t elements, DType dtype) {
    std::int64_t& used = arena == MemorySpace::host ? used_on_host_ : used_;
    const Buffer buffer{arena, used, size_of(dtype)};
    used += (elements * buffer.element_bytes + 63) / 64 * 64;
    return buffer;
  }
  /// Nothing if the slice is empty, or the interval is.
  void add(const Buffer& buffer, Slice slice, std::string_view what, int layer, PhaseInterval interval) {
    if (slice.shape.elements() > 0 && interval.first <= interval.last)
      regions_.push_back({what, layer, buffer.arena, buffer.offset + slice.offset * buffer.element_bytes,
                          slice.shape.elements() * buffer.element_bytes, interval});
  }
  Buffer cut_whole(MemorySpace arena, std::int64_t elements, DType dtype, std::string_view what,
                   PhaseInterval interval) {
    const Buffer buffer = cut(arena, elements, dtype);
    add(buffer, {0, {1, elements}}, what, -1, interval);
    return buffer;
  }
  std::vector<MemoryRegion> take() && { return std::move(regions_); }

 private:
  std::int64_t used_ = 0, used_on_host_ = 0;
  std::vector<MemoryRegion> regions_;
};

}  // namespace monomorph::train
