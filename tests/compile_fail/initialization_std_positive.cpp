// expect-error: \[MODEL-11\] initialization\.std must be above 0 and finite; change InitializationSpec::std
// expect-text: InitializationStdPositive<-20000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    if (NEGATIVE) model.initialization.std = -0.02;
  });
};
static_assert(monomorph::admit<Case>());
