// expect-error: \[RECIPE-08\] a recipe must be a struct that variants can derive from; leave out `final`
#include "support/control.hpp"
#if NEGATIVE
struct Case final : Control {};
#else
struct Case : Control {};
#endif
static_assert(monomorph::admit<Case>());
