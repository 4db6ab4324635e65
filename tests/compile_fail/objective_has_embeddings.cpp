// expect-error: \[ENC-02\] an objective over embeddings must have a model that makes them
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  static constexpr monomorph::DecoderSpec model = Control::model;
#endif
};
static_assert(monomorph::admit<Case>());
