// expect-error: \[FREEZE-06\] parameters that kernels use as one matrix or vector
// expect-text: SlicesFreezeWhole<1, [0-9]+>
#include "support/control.hpp"
struct Names {
  static constexpr monomorph::ParameterSelector parameters[] = {NEGATIVE ? "*.attention.q.weight"
                                                                         : "*.attention.?.weight"};
};
struct Case : Control {
  using finetuning = monomorph::finetuning::Freeze<Names>;
};
static_assert(monomorph::admit<Case>());
