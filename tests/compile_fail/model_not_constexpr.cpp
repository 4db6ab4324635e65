// A model that the compiler does not know: the shape concept names it.
// expect-error(gcc): no matching function for call to .admit<Case>
// expect-error(clang): no matching function for call to 'admit'
// expect-text: R::model
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  const monomorph::ModelSpec model = monomorph::models::gpt2_124m;
#endif
};
static_assert(monomorph::admit<Case>());
