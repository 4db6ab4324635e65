// expect-error: \[SHARD-04\] a sharding policy must have gathers_params where it has releases_after_forward
// expect-text: ReleasesWhatItGathers<false, true>
#include "support/control.hpp"
struct Own : monomorph::sharding::Replicate {
  static constexpr bool releases_after_forward = NEGATIVE;
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
