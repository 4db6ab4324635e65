// expect-error: \[ENC-05\] the features of an embedding must lie in 1\.\.16777216 where they are given
// expect-text: EmbeddingWidthInRange<0>
#include "support/encoder.hpp"
struct Case : EncoderControl {
  static constexpr monomorph::EncoderSpec model = [] {
    monomorph::EncoderSpec model = EncoderControl::model;
    model.d_embedding = NEGATIVE ? 0 : 1;
    return model;
  }();
};
static_assert(monomorph::admit<Case>());
