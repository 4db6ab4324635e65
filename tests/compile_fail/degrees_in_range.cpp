// expect-error: \[MESH-01\] tp, pp and cp must lie in 1\.\.65536; change MeshSpec
// expect-text: DegreesInRange<0, 1, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 0 : 1};
};
static_assert(monomorph::admit<Case>());
