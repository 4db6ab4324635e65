#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include "runtime/cpu/dispatch.hpp"

namespace monomorph::cpu {
MONOMORPH_PER_ISA(void embedding(const std::int32_t* ids, View table, View positions, std::int64_t tokens,
                                 std::int64_t first_position, View x, const std::int32_t* document_starts,
                                 double scale))
MONOMORPH_PER_ISA(void embedding_backward(const std::int32_t* ids, View dx, View dtable, double scale))

void embedding(Queue, const std::int32_t* ids, View table, View positions, std::int64_t tokens,
               std::int64_t first_position, View x, const std::int32_t* document_starts, double scale) {
  const KernelSpan span(Work::elementwise, "embedding");
  MONOMORPH_SELECT(embedding)(ids, table, positions, tokens, first_position, x, document_starts, scale);
}

void embedding_backward(Queue queue, const std::int32_t* ids, View dx, View dtable, bool accumulate, double scale) {
  const KernelSpan span(Work::elementwise, "embedding_backward");
  if (!accumulate) zero(queue, dtable);
  MONOMORPH_SELECT(embedding_backward)(ids, dx, dtable, scale);
}

MONOMORPH_DISPATCH(void, position_embedding_backward,
                   (View dx, std::int64_t tokens, View dpositions, bool accumulate,
                    const std::int32_t* document_starts),
                   (dx, tokens, dpositions, accumulate, document_starts))

}  // namespace monomorph::cpu
