#include "runtime/cuda/sums/divide_by_norm.hpp"
#include "runtime/kernels/newton_schulz.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <cmath>

namespace monomorph::cuda {

void orthogonalize(Queue queue, View matrix, View workspace, double squared_scale, std::int64_t iterations) {
  const KernelSpan span(Work::optimizer, "orthogonalize", queue.stream);
  NewtonSchulz newton_schulz(queue, workspace, matrix.shape);
  divide_by_norm(queue, matrix, newton_schulz.least_norm, newton_schulz.x());
  scale(queue, newton_schulz.iterated(iterations), std::sqrt(squared_scale), matrix);
}

}  // namespace monomorph::cuda
