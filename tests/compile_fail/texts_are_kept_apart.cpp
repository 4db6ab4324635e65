// expect-error: \[ENC-03\] the attention of an encoder must keep within documents
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  using attention = monomorph::attention::Bidirectional;
#endif
};
static_assert(monomorph::admit<Case>());
