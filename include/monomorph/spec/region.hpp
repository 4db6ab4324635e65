#pragma once
#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/spec/layout.hpp>
#include <optional>
#include <span>

namespace monomorph {

/// The product of a tensor's sizes. Absent if the elements are too many to count, or a size is negative.
constexpr std::optional<std::int64_t> element_count(std::span<const std::int64_t> sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(n, size, &n)) return std::nullopt;
  return n;
}

/// A number for each dimension of a tensor, the slowest first: its sizes, or the place of an element.
class Dims {
 public:
  /// Parameters have two dimensions, and stacked ones of experts three. What checks a tiling takes 2^capacity steps for
  /// each box, so the number is small.
  static constexpr int capacity = 4;

  constexpr Dims() = default;
  template <std::convertible_to<std::int64_t>... Numbers>
  requires(sizeof...(Numbers) > 0 && sizeof...(Numbers) <= capacity) constexpr Dims(Numbers... numbers)
      : numbers_{numbers...}, size_(sizeof...(Numbers)) {}

  /// `size` numbers that are all equal.
  static constexpr Dims filled(int size, std::int64_t number) {
    Dims dims;
    dims.size_ = size;
    for (int d = 0; d < size; ++d) dims[d] = number;
    return dims;
  }
  /// Absent if there are more than `capacity`.
  static constexpr std::optional<Dims> from(std::span<const std::int64_t> numbers) {
    if (numbers.size() > capacity) return std::nullopt;
    Dims dims = filled(static_cast<int>(numbers.size()), 0);
    for (int d = 0; d < dims.size(); ++d) dims[d] = numbers[static_cast<std::size_t>(d)];
    return dims;
  }

  constexpr int size() const { return size_; }
  constexpr std::int64_t& operator[](int d) { return numbers_[static_cast<std::size_t>(d)]; }
  constexpr std::int64_t operator[](int d) const { return numbers_[static_cast<std::size_t>(d)]; }
  constexpr const std::int64_t* begin() const { return numbers_.data(); }
  constexpr const std::int64_t* end() const { return numbers_.data() + size_; }
  friend constexpr auto operator<=>(const Dims&, const Dims&) = default;

 private:
  std::array<std::int64_t, capacity> numbers_{};
  int size_ = 0;
};

/// The sizes of a parameter. One that has a single row is a vector.
constexpr Dims dims_of(Shape shape) { return shape.rows == 1 ? Dims{shape.cols} : Dims{shape.rows, shape.cols}; }

/// The sizes of a tensor of a file. A scalar, and a tensor of more dimensions than there is room for, are vectors of
/// their elements.   @param sizes of no more elements than can be counted
constexpr Dims dims_of(std::span<const std::int64_t> sizes) {
  const auto dims = sizes.empty() ? std::nullopt : Dims::from(sizes);
  return dims ? *dims : Dims{*element_count(sizes)};
}

/// A rectangular part of a canonical tensor: what the ranks that split it by rows, columns or experts hold of it. Its
/// elements are counted in the order of its own rows.
struct Region {
  Dims offsets;  ///< of its first element in the tensor
  Dims extents;

  static constexpr Region whole(const Dims& shape) { return {Dims::filled(shape.size(), 0), shape}; }
  /// Whether it is a region of a tensor of this shape. Of one that is not, nothing else may be asked.
  constexpr bool fits(const Dims& shape) const {
    if (offsets.size() != shape.size() || extents.size() != shape.size() || !element_count(shape)) return false;
    for (int d = 0; d < shape.size(); ++d)
      if (offsets[d] < 0 || extents[d] < 0 || offsets[d] > shape[d] || extents[d] > shape[d] - offsets[d]) return false;
    return true;
  }
  constexpr int dimensions() const { return extents.size(); }
  constexpr std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t extent : extents) n *= extent;
    return n;
  }
  /// Where in the tensor an element lies.   @param element of the region, which is not empty
  constexpr Dims place_of(std::int64_t element) const {
    Dims place = offsets;
    for (int d = dimensions() - 1; d >= 0; --d) {
      place[d] += element % extents[d];
      element /= extents[d];
    }
    return place;
  }
  /// The element of the region at a place of the tensor.
  constexpr std::int64_t element_at(const Dims& place) const {
    std::int64_t element = 0;
    for (int d = 0; d < dimensions(); ++d) element = element * extents[d] + place[d] - offsets[d];
    return element;
  }
  friend constexpr auto operator<=>(const Region&, const Region&) = default;
};

/// What two regions of a tensor share; without elements if that is nothing.
constexpr Region intersection(const Region& left, const Region& right) {
  Region shared = left;
  for (int d = 0; d < left.dimensions(); ++d) {
    const std::int64_t end = smaller_of(left.offsets[d] + left.extents[d], right.offsets[d] + right.extents[d]);
    shared.offsets[d] = larger_of(left.offsets[d], right.offsets[d]);
    shared.extents[d] = larger_of(end - shared.offsets[d], 0);
  }
  return shared;
}

}  // namespace monomorph
