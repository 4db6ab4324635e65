#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include "runtime/cuda/attention/attention.hpp"

/// Attention by cuDNN, on tensor cores.
namespace monomorph::cuda {

/// Whether cuDNN can: elements of 16 bits, rows and heads that begin at multiples of 16 bytes, no documents, and a mask
/// that is a band.
bool cudnn_takes(const AttentionCall& call);

/// Backward is deterministic. The first call with a shape takes about a second, in which cuDNN compiles a kernel.
/// @throws Error [GPU-01] cuDNN refuses
void cudnn_attention(Queue queue, const AttentionCall& call);
void cudnn_attention_backward(Queue queue, const AttentionCall& call);

}  // namespace monomorph::cuda
