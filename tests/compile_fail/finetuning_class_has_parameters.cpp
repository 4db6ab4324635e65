// expect-error: \[FREEZE-05\] the model must have parameters of a class that finetuning selects
// expect-text: FinetuningClassHasParameters<0, [^,]*, false>
#include "support/control.hpp"
struct Names {
  static constexpr monomorph::ParameterSelector parameters[] = {NEGATIVE ? monomorph::ParameterClass::head
                                                                         : monomorph::ParameterClass::norm};
};
struct Case : Control {
  static constexpr auto model = changed([](auto& m) { m.tied_head = true; });
  using finetuning = monomorph::finetuning::TrainOnly<Names>;
};
static_assert(monomorph::admit<Case>());
