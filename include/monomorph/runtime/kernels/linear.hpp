#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// Matrix products of a step: M tokens, K features in, N features out. Operands are fp32, bf16 or fp64; products are
/// accumulated in fp32 at least. bf16 results are the rounded fp32 ones, on processors without bf16 arithmetic too.
namespace monomorph::cpu {

/// y = x wᵀ + bias, bias may be absent. y may be of a wider dtype than x and w (fp32 logits of bf16 operands).
void linear(Queue, View x_MK, View w_NK, View bias_N, View y_MN);

/// y = residual + x wᵀ + bias: the product added to the residual stream. y may be residual itself.
void linear_add(Queue, View x_MK, View w_NK, View bias_N, View residual_MN, View y_MN);

/// dx = dy w, or dx += dy w.
void linear_backward_input(Queue, View dy_MN, View w_NK, View dx_MK, bool accumulate = false);

/// dw = dyᵀ x and dbias = column sums of dy (bias may be absent, and both may: of a frozen unit); added to what is
/// there with `accumulate`. dw and dbias have the gradient dtype (fp32 for bf16 operands).
void linear_backward_weight(Queue, View dy_MN, View x_MK, View dw_NK, View dbias_N, bool accumulate);

}  // namespace monomorph::cpu
