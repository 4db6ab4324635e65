#pragma once
#include <cstddef>
#include <monomorph/core/dtype.hpp>
#include <monomorph/spec/layout.hpp>
#include <type_traits>

#ifndef MONOMORPH_BELOW_FIREWALL
#error "torch firewall: only what links monomorph::runtime may include runtime/, model/, train/ and data/"
#endif

namespace monomorph {

/// A matrix that does not own its memory: what templates pass to the functions in src/. Rows are `stride` elements
/// apart.
struct View {
  std::byte* data = nullptr;
  DType dtype = DType::fp32;
  Shape shape{0, 0};
  std::int64_t stride = 0;

  View() = default;
  View(std::byte* begin, DType type, Shape extent) : View(begin, type, extent, extent.cols) {}
  View(std::byte* begin, DType type, Shape extent, std::int64_t row_stride)
      : data(begin), dtype(type), shape(extent), stride(row_stride) {}

  bool present() const { return data != nullptr && shape.elements() > 0; }
  std::int64_t elements() const { return shape.elements(); }
  std::int64_t bytes() const { return elements() * size_of(dtype); }
  bool contiguous() const { return stride == shape.cols || shape.rows <= 1; }

  /// The matrix at a slice of this flat buffer. It is not present if the slice or the buffer is not.
  View operator[](Slice slice) const {
    return slice.present() && data != nullptr ? View{data + slice.offset * size_of(dtype), dtype, slice.shape} : View{};
  }
  View rows(std::int64_t first, std::int64_t n) const {
    return {data + first * stride * size_of(dtype), dtype, {n, shape.cols}, stride};
  }
  View columns(std::int64_t first, std::int64_t n) const {
    return {data + first * size_of(dtype), dtype, {shape.rows, n}, stride};
  }
  /// The same elements of a contiguous view, with other rows and columns.
  View reshaped(Shape other) const { return {data, dtype, other}; }
  /// The caller must know the dtype.
  template <class T> T* as() const { return reinterpret_cast<T*>(data); }
};
static_assert(std::is_trivially_copyable_v<View>);

}  // namespace monomorph
