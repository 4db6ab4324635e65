#include "runtime/cuda/attention/attention.hpp"
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include "runtime/cuda/attention/cudnn_attention.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"

/// What the arguments are decides who computes, so that the same call has the same bits in every process.
namespace monomorph::cuda {

void tiled_attention(Queue queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                     const AttentionMask& mask, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "tiled_attention", queue.stream);
  const AttentionCall call{q, k, v, out, lse_BNT, {}, {}, {}, {}, shape, mask, document_starts};
  (cudnn_takes(call) ? cudnn_attention : plain_attention)(queue, call);
}

void tiled_attention_backward(Queue queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                              View dv, const AttentionShape& shape, const AttentionMask& mask,
                              const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "tiled_attention_backward", queue.stream);
  const AttentionCall call{q, k, v, out, lse_BNT, dout, dq, dk, dv, shape, mask, document_starts};
  (cudnn_takes(call) ? cudnn_attention_backward : plain_attention_backward)(queue, call);
}

}  // namespace monomorph::cuda
