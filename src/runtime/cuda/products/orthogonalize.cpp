#include "runtime/cuda/products/orthogonalize.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <cmath>
#include <utility>

#include "runtime/cuda/products/run_product.hpp"
#include "runtime/cuda/sums/divide_by_norm.hpp"
#include "runtime/kernels/newton_schulz.hpp"

namespace monomorph::cuda {
namespace {

/// The tensors are those of the first matrix; each product is repeated for the others of the batch. Sums of matrices
/// are added where products are written, so that nothing but products reads and writes them.
void iterate(Queue queue, NewtonSchulzTensors& t, const Batch& batch) {
  constexpr Quintic quintic;
  const auto [rows, cols] = t.x.shape;
  const std::int64_t shorter = t.gram.shape.rows;
  const bool wide = t.is_wide();
  // By columns, as cuBLASLt has it, x is transposed: of cols rows.
  run_product(queue, {.m = shorter,
                      .n = shorter,
                      .k = wide ? cols : rows,
                      .a = Operand::of(t.x, wide),
                      .b = Operand::of(t.x, !wide),
                      .c = Operand::of(t.gram),
                      .d = Operand::of(t.gram),
                      .batch = batch});
  run_product(queue, {.m = shorter,
                      .n = shorter,
                      .k = shorter,
                      .a = Operand::of(t.gram),
                      .b = Operand::of(t.gram),
                      .c = Operand::of(t.gram),
                      .d = Operand::of(t.square),
                      .adds_c = true,
                      .times = quintic.c,
                      .times_c = quintic.b,
                      .batch = batch});
  run_product(queue, {.m = cols,
                      .n = rows,
                      .k = shorter,
                      .a = Operand::of(wide ? t.x : t.square),
                      .b = Operand::of(wide ? t.square : t.x),
                      .c = Operand::of(t.x),
                      .d = Operand::of(t.next),
                      .adds_c = true,
                      .times_c = quintic.a,
                      .batch = batch});
  std::swap(t.x, t.next);
}

/// The same tensor of a matrix so many bytes further on.
View moved(View tensor, std::int64_t bytes) {
  tensor.data += bytes;
  return tensor;
}

}  // namespace

std::int64_t AlikeMatrices::distance() const {
  return matrices_.size() < 2 ? 0 : matrices_[1].workspace.data - matrices_[0].workspace.data;
}

bool AlikeMatrices::takes(const Orthogonalization& next) const {
  const Orthogonalization& first = matrices_.front();
  if (next.matrix.shape != first.matrix.shape || next.workspace.dtype != first.workspace.dtype ||
      next.iterations != first.iterations)
    return false;
  const std::int64_t from_first = next.workspace.data - first.workspace.data;
  if (matrices_.size() > 1) return from_first == std::ssize(matrices_) * distance();
  // All are as aligned as the first one, by which cuBLASLt chooses.
  return from_first >= first.workspace.bytes() && from_first % Operand::most_alignment == 0;
}

void AlikeMatrices::start(Queue queue) const {
  const KernelSpan span(Work::optimizer, "orthogonalize", queue.stream);
  const Orthogonalization& first = matrices_.front();
  NewtonSchulzTensors tensors(first.workspace, first.matrix.shape);
  for (std::int64_t i = 0; const Orthogonalization& of : matrices_)
    divide_by_norm(queue, of.matrix, least_matrix_norm, moved(tensors.x, distance() * i++));
  const Batch batch{std::ssize(matrices_), distance() / size_of(first.workspace.dtype)};
  for (std::int64_t i = 0; i < first.iterations; ++i) iterate(queue, tensors, batch);
  for (std::int64_t i = 0; const Orthogonalization& of : matrices_)
    scale(queue, moved(tensors.x, distance() * i++), std::sqrt(of.squared_scale), of.matrix);
}

}  // namespace monomorph::cuda
