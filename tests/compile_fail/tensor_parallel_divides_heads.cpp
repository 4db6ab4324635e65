// expect-error: \[MESH-02\] n_heads must be a multiple of tp; change MeshSpec::tp
// expect-error: \[MESH-03\] n_kv_heads must be a multiple of tp
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: TensorParallelDividesHeads<3, 4>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.d_ff = 192;
    model.vocab_multiple = 12;
  });
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 3 : 1};
};
static_assert(monomorph::admit<Case>());
