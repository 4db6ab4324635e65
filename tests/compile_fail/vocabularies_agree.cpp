// expect-error: \[DISTIL-03\] a student and its teacher must have the same vocabulary, padded to as many rows
// expect-text: VocabulariesAgree<300, 304, 300, 320>
#include "support/control.hpp"
struct Teacher {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.d_model = 128;
    if (NEGATIVE) model.vocab_multiple = 64;
  });
};
struct Case : Control {
  using objective = monomorph::objective::Distillation<Teacher>;
};
static_assert(monomorph::admit<Case>());
