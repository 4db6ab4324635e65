#pragma once
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/precision/bf16_mixed.hpp>

namespace monomorph::precision {

/// Bf16Mixed, with the products of blocks in fp8 (docs/reference/fp8.md): inputs and weights in e4m3, gradients in
/// e5m2, each tensor with one scale, which follows from the greatest magnitudes of steps before. Embedding, head,
/// attention and the residual stream are as in Bf16Mixed. What norms and activations make for one product is kept in
/// e4m3.
struct Fp8Mixed : Bf16Mixed {
  using needs = KernelSets<kernels::ScaledProducts>;
  static constexpr int amax_history = 16;  ///< updates whose greatest magnitude a scale has room for
  static constexpr int scale_margin = 0;   ///< powers of two that it leaves room for besides
};

}  // namespace monomorph::precision
