// expect-error: \[ENC-06\] soft_cap\.logits must be 0 in a model that makes embeddings
// expect-text: CappedLogitsAreMade<30000000, true>
#include "support/encoder.hpp"
struct Case : EncoderControl {
  static constexpr monomorph::EncoderSpec model = [] {
    monomorph::EncoderSpec model = EncoderControl::model;
    model.soft_cap = {.scores = 50, .logits = NEGATIVE ? 30 : 0};
    return model;
  }();
};
static_assert(monomorph::admit<Case>());
