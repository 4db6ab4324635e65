// expect-error: \[OPTIM-02\] an optimizer must have `struct Hparams`
// expect-error: \[OPTIM-02\] an optimizer must have `static constexpr monomorph::UpdateScope scope\(ParameterClass\)`
// expect-error: \[OPTIM-02\] an optimizer must have `static constexpr monomorph::StateBuffers state\(ParameterClass\)`
// expect-error: \[OPTIM-02\] an optimizer must have `template <class Queue> static void update
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static constexpr int state = 2;
  static constexpr monomorph::UpdateScope scope() { return monomorph::UpdateScope::elements; }
#else
  using Hparams = monomorph::optim::AdamWHparams;
  static void update(auto queue, const auto& run, const Hparams&, const auto& terms);
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass) { return {"moment"}; }
  static constexpr monomorph::UpdateScope scope(monomorph::ParameterClass) { return monomorph::UpdateScope::elements; }
#endif
};
struct Case : Control {
  using optimizer = Own;
};
static_assert(monomorph::admit<Case>());
