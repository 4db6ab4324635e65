// expect-error: \[MODEL-08\] vocab_multiple must lie in 1\.\.65536; change vocab_multiple
// expect-text: VocabularyMultipleInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.vocab_multiple = NEGATIVE ? 0 : 64; });
};
static_assert(monomorph::admit<Case>());
