// A policy of another axis: the concept of the axis says what it lacks.
// expect-error(gcc): no matching function for call to .admit<Case>
// expect-error(clang): no matching function for call to 'admit'
// expect-text: ShardingPolicy
// expect-text: gathers_params
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using sharding = monomorph::precision::Fp32;
#endif
};
static_assert(monomorph::admit<Case>());
