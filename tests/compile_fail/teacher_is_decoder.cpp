// expect-error: \[DISTIL-01\] the teacher of an objective must be a recipe, or a struct like one
// expect-text: TeacherIsDecoder<NoRecipe>
#include "support/control.hpp"
struct NoRecipe {
#if NEGATIVE
  static constexpr int model = 3;
#else
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.n_layers = 2; });
#endif
};
struct Case : Control {
  using objective = monomorph::objective::Distillation<NoRecipe>;
};
static_assert(monomorph::admit<Case>());
