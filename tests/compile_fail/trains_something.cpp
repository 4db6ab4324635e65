// expect-error: \[FREEZE-03\] finetuning must train some unit, and a tied head is trained as the embedding is
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = [] {
    monomorph::DecoderSpec model = Control::model;
    model.tied_head = bool{NEGATIVE};
    return model;
  }();
  using finetuning = monomorph::finetuning::HeadOnly;
};
static_assert(monomorph::admit<Case>());
