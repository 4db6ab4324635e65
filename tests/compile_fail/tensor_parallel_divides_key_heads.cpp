// expect-error: \[MESH-03\] n_kv_heads must be a multiple of tp; change MeshSpec::tp or n_kv_heads
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: TensorParallelDividesKeyHeads<4, 2>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.n_kv_heads = 2; });
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 4 : 1};
};
static_assert(monomorph::admit<Case>());
