// expect-error: \[MODEL-19\] soft_cap\.scores and soft_cap\.logits must be 0, which is none, or at least 0\.001 and finite
// expect-error: \[MODEL-19\] soft_cap\.scores and soft_cap\.logits must be 0, which is none, or at least 0\.001 and finite
// expect-text: SoftCapsPositive<-50000000, 0>
// expect-text: SoftCapsPositive<50000000, 1>
#include "support/control.hpp"
struct Negative : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.soft_cap.scores = NEGATIVE ? -50 : 50; });
};
struct Tiny : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.soft_cap = {.scores = 50, .logits = NEGATIVE ? 1e-7 : 1e-3}; });
};
static_assert(monomorph::admit<Negative>());
static_assert(monomorph::admit<Tiny>());
