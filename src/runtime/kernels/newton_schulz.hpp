#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <utility>

namespace monomorph {

/// How every device makes a matrix orthogonal: the iterations of Newton and Schulz with the coefficients of Jordan et
/// al. 2024, as products and sums of a queue's kernels.
template <class Queue> class NewtonSchulz {
 public:
  /// What norms below are taken for, so that a matrix of zeros stays one.
  static constexpr double least_norm = 1e-7;

  /// @param workspace as many elements as optim::Muon::workspace_elements says
  NewtonSchulz(Queue queue, const View& workspace, Shape shape) : queue_(queue) {
    const std::int64_t shorter = smaller_of(shape.rows, shape.cols);
    Layout layout;
    x_ = workspace[layout.take(shape)];
    next_ = workspace[layout.take(shape)];
    gram_ = workspace[layout.take({shorter, shorter})];
    square_ = workspace[layout.take({shorter, shorter})];
  }
  /// Where the caller puts the matrix, divided by its norm.
  const View& x() const { return x_; }
  /// Where it is, nearly orthogonal, after so many iterations.
  const View& iterated(std::int64_t iterations) {
    for (std::int64_t i = 0; i < iterations; ++i) iterate();
    return x_;
  }

 private:
  /// The quintic, whose slope at 0 is as steep as it can be for values that end up near 1: applied to X, it is
  /// a X + (b A + c A A) X with A = X Xᵀ.
  struct Quintic {
    double a = 3.4445, b = -4.7750, c = 2.0315;
  };

  /// gram = X Xᵀ, or Xᵀ X if that is smaller; next = the quintic of X.
  void iterate() {
    constexpr Quintic quintic;
    const bool wide = x_.shape.rows <= x_.shape.cols;
    if (wide)
      linear(queue_, x_, x_, View{}, gram_);
    else
      linear_backward_weight(queue_, x_, x_, gram_, View{}, false);
    linear(queue_, gram_, gram_, View{}, square_);  // which is symmetric
    scale_and_add(queue_, square_, quintic.c, gram_, quintic.b);
    if (wide)
      linear_backward_input(queue_, gram_, x_, next_);
    else
      linear_backward_input(queue_, x_, gram_, next_);
    scale_and_add(queue_, x_, quintic.a, next_, 1);
    std::swap(x_, next_);
  }

  Queue queue_;
  View x_, next_, gram_, square_;
};

}  // namespace monomorph
