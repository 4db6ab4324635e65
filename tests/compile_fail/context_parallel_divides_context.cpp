// expect-error: \[MESH-07\] context_length must be a multiple of 2 cp where cp is above 1
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: ContextParallelDividesContext<32, 32>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::MeshSpec mesh{.cp = NEGATIVE ? 32 : 1};
};
static_assert(monomorph::admit<Case>());
