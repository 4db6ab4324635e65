#include <monomorph/train/checkpoints/compare.hpp>

#include "tensor_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace monomorph::train {
namespace {

struct Distance {
  double absolute, relative;
};

/// The distance of two numbers that are not NaN.
Distance distance(double left, double right) {
  if (left == right) return {0, 0};
  const double absolute = std::abs(left - right), larger = std::max(std::abs(left), std::abs(right));
  return {absolute, std::isinf(larger) ? std::numeric_limits<double>::infinity() : absolute / larger};
}

/// What compares the tensors of one name; keeps its buffers from tensor to tensor.
class TensorComparison {
 public:
  TensorComparison(runtime::CheckpointReader& first, runtime::CheckpointReader& second)
      : first_(first), second_(second) {}

  /// @return nothing if all bits are equal
  std::optional<TensorDifference> compare(const std::string& name, const runtime::CheckpointReader::Tensor& tensor) {
    TensorDifference difference{.name = name};
    for_each_piece(tensor.n_elements, [&](std::int64_t first, std::int64_t n) {
      read_piece(first_, name, first, n, left_bytes_);
      read_piece(second_, name, first, n, right_bytes_);
      if (left_bytes_ != right_bytes_) add(tensor.dtype, first, difference);
    });
    return difference.n_elements > 0 ? std::optional(std::move(difference)) : std::nullopt;
  }

 private:
  void add(runtime::FileDType dtype, std::int64_t first, TensorDifference& difference) {
    const std::size_t width = runtime::bytes_per_element(dtype);
    widen(dtype, left_bytes_, left_);
    widen(dtype, right_bytes_, right_);
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (std::memcmp(&left_bytes_[i * width], &right_bytes_[i * width], width) == 0) continue;
      ++difference.n_elements;
      if (std::isnan(left_[i]) || std::isnan(right_[i])) {
        difference.n_nan_in_one += std::isnan(left_[i]) != std::isnan(right_[i]) ? 1 : 0;
        continue;
      }
      const Distance found = distance(left_[i], right_[i]);
      difference.largest_relative = std::max(difference.largest_relative, found.relative);
      if (found.absolute <= difference.largest_absolute) continue;
      difference.largest_absolute = found.absolute;
      difference.place_of_largest = first + static_cast<std::int64_t>(i);
    }
  }

  runtime::CheckpointReader& first_;
  runtime::CheckpointReader& second_;
  std::vector<std::byte> left_bytes_, right_bytes_;
  std::vector<double> left_, right_;
};

}  // namespace

CheckpointComparison compare_checkpoints(runtime::CheckpointReader& first, runtime::CheckpointReader& second) {
  CheckpointComparison comparison;
  TensorComparison tensors(first, second);
  for (const std::string& name : first.names()) {
    const runtime::CheckpointReader::Tensor &left = *first.find(name), *const right = second.find(name);
    if (right == nullptr)
      comparison.only_in_first.push_back(name);
    else if (left.dtype != right->dtype || left.shape != right->shape)
      comparison.differently_shaped.push_back(name);
    else if (auto difference = tensors.compare(name, left))
      comparison.different.push_back(*std::move(difference));
    else
      ++comparison.n_equal;
  }
  for (const std::string& name : second.names())
    if (first.find(name) == nullptr) comparison.only_in_second.push_back(name);
  return comparison;
}

}  // namespace monomorph::train
