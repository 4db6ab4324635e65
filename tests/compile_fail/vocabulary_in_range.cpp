// expect-error: \[MODEL-02\] vocab_size must lie in 1\.\.16777216; change vocab_size
// expect-text: VocabularyInRange<-1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.vocab_size = NEGATIVE ? -1 : 1; });
};
static_assert(monomorph::admit<Case>());
