#pragma once
#include "gpu/mirror.hpp"

#include <monomorph/optim/muon.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>

#include <vector>

namespace monomorph::testing {

/// Matrices that an optimiser transforms together, on a CPU and on a GPU: each with scratch memory of its own, one
/// behind the other.
class MatricesTogether {
 public:
  MatricesTogether(const std::vector<Shape>& shapes, DType dtype, DType of_workspace)
      : workspace_(filled(1, scratch_elements(shapes), std::nan("")), of_workspace) {
    std::int64_t first = 0;
    for (const Shape shape : shapes) {
      matrices_.emplace_back(random_matrix(shape.rows, shape.cols, static_cast<unsigned>(matrices_.size())), dtype);
      scratch_.push_back({first, {1, optim::Muon::workspace_elements(shape)}});
      first += scratch_.back().shape.cols;
    }
  }
  void orthogonalize_on_both(std::int64_t iterations) const {
    on_both([&](auto q) {
      update_together(q, [&](auto queue) {
        for (std::size_t i = 0; i < matrices_.size(); ++i)
          orthogonalize(queue, matrices_[i].on(q), workspace_.on(q)[scratch_[i]], 3 + static_cast<double>(i),
                        iterations);
      });
    });
  }
  void check_equal(double tolerance) const {
    for (const Mirror& matrix : matrices_) matrix.check_equal(tolerance);
  }

 private:
  static std::int64_t scratch_elements(const std::vector<Shape>& shapes) {
    std::int64_t elements = 0;
    for (const Shape shape : shapes) elements += optim::Muon::workspace_elements(shape);
    return elements;
  }
  std::vector<Mirror> matrices_;
  Mirror workspace_;
  std::vector<Slice> scratch_;
};

/// Two ways of rounding each product to bf16, over some iterations.
inline constexpr double tolerance_of_bf16_iterations = 0.05;

}  // namespace monomorph::testing
