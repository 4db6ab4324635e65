// expect-error: \[OBJ-08\] sequences_per_sample of an objective over sequences must be a `static constexpr int` in 1..8
#include "support/control.hpp"
struct Objective : monomorph::objective::Preferences {
  static constexpr int sequences_per_sample = NEGATIVE ? 9 : 8;
};
struct Case : Control {
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
