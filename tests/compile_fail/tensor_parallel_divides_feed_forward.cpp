// expect-error: \[MESH-04\] d_ff must be a multiple of tp; change MeshSpec::tp or d_ff
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: TensorParallelDividesFeedForward<4, 202>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.d_ff = 202; });
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 4 : 1};
};
static_assert(monomorph::admit<Case>());
