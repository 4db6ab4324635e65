// A model that the compiler does not know.
// expect-error: \[RECIPE-02\] model must be `static constexpr monomorph::DecoderSpec model\{\.\.\.\};`
// expect-error: \[RECIPE-02\] model must be
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  const monomorph::DecoderSpec model = monomorph::models::gpt2_124m;
#endif
};
struct Variable : Control {
#if NEGATIVE
  static inline monomorph::DecoderSpec model = monomorph::models::gpt2_124m;
#endif
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Variable>());
