#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/kernels/newton_schulz.hpp"

namespace monomorph::cpu {
namespace {

void iterate(Queue queue, NewtonSchulzTensors& t) {
  constexpr Quintic quintic;
  if (t.is_wide())
    linear(queue, t.x, t.x, View{}, t.gram);
  else
    linear_backward_weight(queue, t.x, t.x, t.gram, View{}, false);
  linear(queue, t.gram, t.gram, View{}, t.square);  // which is symmetric
  scale_and_add(queue, t.square, quintic.c, t.gram, quintic.b);
  if (t.is_wide())
    linear_backward_input(queue, t.gram, t.x, t.next);
  else
    linear_backward_input(queue, t.x, t.gram, t.next);
  scale_and_add(queue, t.x, quintic.a, t.next, 1);
  std::swap(t.x, t.next);
}

}  // namespace

void orthogonalize(Queue queue, View matrix, View workspace, double squared_scale, std::int64_t iterations) {
  const KernelSpan span(Work::optimizer, "orthogonalize");
  NewtonSchulzTensors tensors(workspace, matrix.shape);
  const double norm = std::sqrt(sum_of_squares(queue, matrix).value());
  scale(queue, matrix, 1 / std::max(norm, least_matrix_norm), tensors.x);
  for (std::int64_t i = 0; i < iterations; ++i) iterate(queue, tensors);
  scale(queue, tensors.x, std::sqrt(squared_scale), matrix);
}

}  // namespace monomorph::cpu
