#pragma once
#include <cstdint>

namespace monomorph {

/// Rows and columns; a vector is one row.
struct Shape {
  std::int64_t rows = 1, cols = 1;
  constexpr std::int64_t elements() const { return rows * cols; }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// Every slice of a flat buffer starts at a multiple of this many elements, and every shard is a multiple of it, so no
/// kernel over a shard has a tail and every slice is aligned for vector loads.
inline constexpr std::int64_t alignment_elements = 64;
constexpr std::int64_t align_up(std::int64_t elements, std::int64_t alignment = alignment_elements) {
  return (elements + alignment - 1) / alignment * alignment;
}

/// Part of a flat buffer. The offset is in elements, so one slice serves parameters, gradients and optimiser state of
/// different dtypes. A slice that an option leaves out has no rows.
struct Slice {
  std::int64_t offset = 0;
  Shape shape{0, 0};
  constexpr bool present() const { return shape.elements() > 0; }
};

/// Hands out the slices of a flat buffer. The same code is the plan, in a constant expression, and the placement, at
/// start-up.
struct Layout {
  std::int64_t elements = 0;  ///< with padding
  std::int64_t unpadded = 0;
  constexpr Slice take(Shape shape) {
    const Slice slice{elements, shape};
    elements += align_up(shape.elements());
    unpadded += shape.elements();
    return slice;
  }
};

}  // namespace monomorph
