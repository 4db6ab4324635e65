// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: DataParallelOnly<2, 1, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 2 : 1};
};
static_assert(monomorph::admit<Case>());
