#include <algorithm>
#include <monomorph/core/extremes.hpp>
#include <monomorph/train/step/transformed_matrices.hpp>

namespace monomorph::train {
namespace {
/// What a product of the matrix and its transpose, of the shorter side, costs, but for a factor.
std::int64_t cost(const plan::TransformedMatrix& of) {
  const Shape shape = of.matrix.shape;
  return shape.elements() * smaller_of(shape.rows, shape.cols);
}
}  // namespace

TransformedMatrices::TransformedMatrices() = default;
TransformedMatrices::~TransformedMatrices() = default;

void TransformedMatrices::add(int unit, const plan::TransformedMatrix& of) {
  if (std::ssize(units_) <= unit) units_.resize(static_cast<std::size_t>(unit) + 1);
  OfUnit& matrices = units_[static_cast<std::size_t>(unit)];
  if (!of.side_by_side) return matrices.in_turn.push_back(of);
  const auto shorter = std::ranges::upper_bound(matrices.side_by_side, cost(of), std::greater<>{}, cost);
  matrices.side_by_side.insert(shorter, of);
}

bool TransformedMatrices::any(int unit) const {
  return unit < std::ssize(units_) && !(of(unit).side_by_side.empty() && of(unit).in_turn.empty());
}
const TransformedMatrices::OfUnit& TransformedMatrices::of(int unit) const {
  return units_[static_cast<std::size_t>(unit)];
}

}  // namespace monomorph::train
