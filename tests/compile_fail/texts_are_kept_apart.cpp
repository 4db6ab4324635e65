// expect-error: \[ENC-03\] the attention of a model that makes embeddings must keep within documents
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  using attention = monomorph::attention::Bidirectional;
#endif
};
static_assert(monomorph::admit<Case>());
