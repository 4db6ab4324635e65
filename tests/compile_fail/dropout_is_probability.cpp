// expect-error: \[MODEL-10\] dropout\.embedding, dropout\.attention and dropout\.residual must be at least 0 and
// expect-text: DropoutIsProbability<100000, 0, 1000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed(
      [](monomorph::DecoderSpec& model) { model.dropout = {.embedding = 0.1, .residual = NEGATIVE ? 1 : 0.9999}; });
};
static_assert(monomorph::admit<Case>());
