#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/spec/layout.hpp>

namespace monomorph {

/// Where a block's Saved slices lie: `kept` until backward, or in `scratch`, which all blocks share and backward fills
/// again.
struct SavedPlacement {
  Layout& kept;
  Layout& scratch;
  Recompute recompute;
  /// Whether rounded copies of parameters may be kept from forward to backward: these stay on the device, and so do the
  /// block's activations.
  bool parameters_stay = false;
  /// A slice for what is computed again with the whole block alone.
  constexpr Slice take(Shape shape) { return (recompute == Recompute::block ? scratch : kept).take(shape); }
  /// A slice for what is computed again by choice, such as `&Recompute::norm`.
  constexpr Slice take(Shape shape, bool Recompute::*choice) {
    return (recompute.*choice ? scratch : kept).take(shape);
  }
};

}  // namespace monomorph
