// expect-error: \[MODEL-13\] vocab_multiple must be at most vocab_size, or 512
// expect-text: PaddingIsSmall<513, 300>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.vocab_multiple = NEGATIVE ? 513 : 512; });
};
static_assert(monomorph::admit<Case>());
