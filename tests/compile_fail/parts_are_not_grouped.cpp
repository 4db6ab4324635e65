// expect-error: \[OPTIM-11\] the optimizers in ByClass, Averaged or Grouped must not list groups
// expect-text: PartsAreNotGrouped<true>
#include "support/control.hpp"
using monomorph::optim::AdamW, monomorph::optim::ByClass, monomorph::optim::Grouped, monomorph::optim::Muon;
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {{.parameters = "layers.*", .lr_multiplier = 0.5}};
};
struct Case : Control {
#if NEGATIVE
  using optimizer = ByClass<Muon, Grouped<AdamW, Groups>>;
#else
  using optimizer = Grouped<ByClass<Muon, AdamW>, Groups>;
#endif
};
static_assert(monomorph::admit<Case>());
