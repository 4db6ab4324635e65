// expect-error: \[MESH-05\] the padded vocabulary must be a multiple of tp; change vocab_multiple
// expect-error: \[MESH-08\] tp, pp and cp must be 1 in this release
// expect-text: TensorParallelDividesVocabulary<2, 301>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.vocab_size = 301;
    model.vocab_multiple = 1;
  });
  static constexpr monomorph::MeshSpec mesh{.tp = NEGATIVE ? 2 : 1};
};
static_assert(monomorph::admit<Case>());
