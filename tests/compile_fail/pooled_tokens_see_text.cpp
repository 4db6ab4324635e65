// The last token of a text sees all of it from one side, too.
// expect-error: \[ENC-04\] some layer of a model that makes embeddings must attend to tokens behind a token unless pooling is last
// expect-text: PooledTokensSeeText<Case,
#include "support/encoder.hpp"
struct Case : EncoderControl {
  static constexpr monomorph::EncoderSpec model = [] {
    monomorph::EncoderSpec model = EncoderControl::model;
    model.pooling = NEGATIVE ? monomorph::Pooling::mean : monomorph::Pooling::last;
    return model;
  }();
  using attention = monomorph::attention::WithinDocuments;
};
static_assert(monomorph::admit<Case>());
