// expect-error: \[QUANT-01\] a finetuning policy that keeps matrices in NF4 must leave some of them frozen
// expect-text: QuantizesSomething<monomorph::finetuning::Nf4Base<
#include "support/control.hpp"
struct Names {
  static constexpr monomorph::ParameterSelector parameters[] = {NEGATIVE ? monomorph::ParameterClass::norm
                                                                         : monomorph::ParameterClass::linear};
};
struct Case : Control {
  using finetuning = monomorph::finetuning::Nf4Base<monomorph::finetuning::Freeze<Names>>;
};
static_assert(monomorph::admit<Case>());
