// expect-error: \[MESH-06\] pp must be at most n_layers; change MeshSpec::pp
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: PipelineWithinLayers<7, 6>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::MeshSpec mesh{.pp = NEGATIVE ? 7 : 1};
};
static_assert(monomorph::admit<Case>());
