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
  constexpr Slice take(Shape shape) { return (recompute == Recompute::block ? scratch : kept).take(shape); }
  /// A slice for activations that are cheap to compute again.
  constexpr Slice take_cheap(Shape shape) { return (recompute == Recompute::nothing ? kept : scratch).take(shape); }
};

}  // namespace monomorph
