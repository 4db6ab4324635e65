// expect-error: \[PREC-14\] logits must be of the dtype of statistics unless the objective is over single tokens
// expect-error: \[PREC-14\] logits must be of the dtype of statistics unless the objective is over single tokens
// expect-text: RoundedLogitsAreOfTokens<true, false, true, false>
// expect-text: RoundedLogitsAreOfTokens<true, false, false, true>
#include "support/control.hpp"
using monomorph::precision::Bf16Mixed, monomorph::precision::NarrowLogits;
struct Compared : Control {
  using precision = std::conditional_t<NEGATIVE, NarrowLogits<Bf16Mixed>, Bf16Mixed>;
  using objective = monomorph::objective::Preferences;
  using attention = monomorph::attention::WithinDocuments;
};
struct Taught : Control {
  using precision = std::conditional_t<NEGATIVE, NarrowLogits<Bf16Mixed>, Bf16Mixed>;
  using objective = monomorph::objective::Distillation<Control>;
};
static_assert(monomorph::admit<Compared>());
static_assert(monomorph::admit<Taught>());
