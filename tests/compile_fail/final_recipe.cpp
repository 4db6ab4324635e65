// A recipe that nobody can derive a variant from.
// expect-error(gcc): no matching function for call to .admit<Case>
// expect-error(clang): no matching function for call to 'admit'
// expect-text: CanBeInherited|is_final_v
#include "support/control.hpp"
#if NEGATIVE
struct Case final : Control {};
#else
struct Case : Control {};
#endif
static_assert(monomorph::admit<Case>());
