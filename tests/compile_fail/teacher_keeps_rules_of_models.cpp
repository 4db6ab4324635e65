// What the sizes of every model must keep, those of a teacher must keep, too.
// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads where head_dim is derived
// expect-text: HeadsDivideWidth<64, 7, false>
#include "support/control.hpp"
struct Teacher {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    if (NEGATIVE) model.n_heads = 7;
  });
};
struct Case : Control {
  using objective = monomorph::objective::Distillation<Teacher>;
};
static_assert(monomorph::admit<Case>());
