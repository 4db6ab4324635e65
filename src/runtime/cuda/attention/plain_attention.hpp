#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include "runtime/cuda/attention/attention.hpp"

namespace monomorph::cuda {

/// tiled_attention and its gradients for every mask, dtype, row and document, without tensor cores. Heads have up to
/// 256 features. Deterministic: each sum is one thread's, in one order.
void plain_attention(Queue queue, const AttentionCall& call);
void plain_attention_backward(Queue queue, const AttentionCall& call);

}  // namespace monomorph::cuda
