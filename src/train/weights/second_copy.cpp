#include "train/weights/second_copy.hpp"

#include "train/weights/file_dtype.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/spec/region.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace monomorph::train {
namespace {

View fp64_view(std::vector<double>& values, std::int64_t n) {
  values.resize(static_cast<std::size_t>(n));
  return {reinterpret_cast<std::byte*>(values.data()), DType::fp64, {1, n}};
}

}  // namespace

bool is_copy(const SecondCopy& copy, WeightsSource& weights) {
  constexpr std::int64_t at_a_time = std::int64_t{1} << 18;
  const auto& [file, entry] = copy.tensor;
  const Shape* const shape = weights.find(copy.original);
  const auto dtype = dtype_of(entry->dtype);
  if (!dtype || shape == nullptr || !std::ranges::equal(dims_of(*shape), entry->shape)) return false;
  const std::byte* const data = file->data(*entry);
  std::vector<double> original, second;
  std::vector<std::byte> buffer;
  bool all_are_equal = true;
  const auto compare = [&](std::int64_t first, std::int64_t n) {
    if (!all_are_equal) return;
    weights.read(copy.original, first, fp64_view(original, n));
    read_converted(*dtype, fp64_view(second, n), buffer, [&](std::int64_t done, std::span<std::byte> bytes) {
      std::memcpy(bytes.data(), data + (first + done) * size_of(*dtype), bytes.size());
    });
    all_are_equal = std::memcmp(original.data(), second.data(), original.size() * sizeof(double)) == 0;
  };
  in_bounded_pieces(shape->elements(), compare, at_a_time);
  return all_are_equal;
}

}  // namespace monomorph::train
