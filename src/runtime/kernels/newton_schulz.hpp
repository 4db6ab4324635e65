#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// What every device needs to make a matrix orthogonal by the iteration of Newton and Schulz, as Jordan et al. 2024
/// have it: X, divided by its norm at first, becomes a X + (b A + c A A) X with A = X Xᵀ, or a X + X (b A + c A A) with
/// A = Xᵀ X where that is smaller.
namespace monomorph {

/// Its coefficients: the slope at 0 is as steep as it can be for singular values that end up near 1.
struct Quintic {
  double a = 3.4445, b = -4.7750, c = 2.0315;
};

/// What norms below are taken for, so that a matrix of zeros stays one.
inline constexpr double least_matrix_norm = 1e-7;

/// A matrix's tensors in its scratch memory, of as many elements as optim::Muon::workspace_elements says.
struct NewtonSchulzTensors {
  View x;       ///< what is iterated
  View next;    ///< what becomes of it
  View gram;    ///< A
  View square;  ///< A A

  NewtonSchulzTensors(const View& workspace, Shape shape) {
    const std::int64_t shorter = smaller_of(shape.rows, shape.cols);
    Layout layout;
    x = workspace[layout.take(shape)];
    next = workspace[layout.take(shape)];
    gram = workspace[layout.take({shorter, shorter})];
    square = workspace[layout.take({shorter, shorter})];
  }
  bool is_wide() const { return x.shape.rows <= x.shape.cols; }
};

}  // namespace monomorph
