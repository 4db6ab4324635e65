// expect-error: \[OPTIM-09\] a weight_decay_multiplier must be of an optimizer that has weight_decay
// expect-text: WeightDecayIsScaled<0, true, false>
#include "support/control.hpp"
/// Its weights do not decay.
struct SignDescent {
  struct Hparams {
    monomorph::Field<double> lr{1e-3, 0.0, 1.0, "peak learning rate"};
  };
  static constexpr monomorph::UpdateScope scope(monomorph::ParameterClass) { return monomorph::UpdateScope::elements; }
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass) { return {"momentum"}; }
  template <class Queue> static void update(Queue, const auto&, const Hparams&, const auto&) {}
};
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {
      {.parameters = "layers.*", .lr_multiplier = 0.5, .weight_decay_multiplier = NEGATIVE ? 0 : 1}};
};
struct Case : Control {
  using optimizer = monomorph::optim::Grouped<SignDescent, Groups>;
};
static_assert(monomorph::admit<Case>());
