#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace at {
class Tensor;  // ATen/core/Tensor.h
}

namespace monomorph {

class AutogradInput;  // model/autograd_block.hpp

/// Base of a block that writes only its forward pass, with ATen operations: LibTorch's autograd runs inside that block,
/// and nowhere else. The block gives `Params` (a ParameterLayout, constructed from the block's index),
/// `matmul_flops_per_token()`, `attention_flops_per_token()` if it attends and, below the torch firewall
/// (`#ifdef MONOMORPH_BELOW_FIREWALL`), `static at::Tensor compute(const AutogradInput& in)`: from the
/// residual stream (B, T, D) to the next one. Its activations are LibTorch's, outside the arena and the plan. See
/// docs/guides/add_a_block.md.
template <class Derived> struct AutogradBlock {
  using needs = KernelSets<kernels::Autograd>;
  /// Autograd keeps what backward reads.
  struct Saved {
    constexpr Saved(SavedPlacement, SavedPlacement, std::int64_t /*M*/) {}
  };
  struct Temporary {
    constexpr Temporary(Layout&, std::int64_t /*M*/) {}
  };
  template <class Queue> static void forward(const TensorsOn<Queue>& t, const Saved&);
  template <class Queue> static void recompute(const TensorsOn<Queue>& t, const Saved&);
  template <class Queue> static void backward(const TensorsOn<Queue>& t, const Saved&);
};

}  // namespace monomorph
