// expect-error: \[OBJ-05\] texts_per_sample of an objective over embeddings must be a `static constexpr int` in
#include "support/encoder.hpp"
struct Objective : monomorph::objective::ContrastivePairs {
  static constexpr int texts_per_sample = NEGATIVE ? 9 : 8;
};
struct Case : EncoderControl {
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
