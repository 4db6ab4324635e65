// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr bool splits_parameters`
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr bool splits_gradients`
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr int optimizer_shards\(int dp\)`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static bool splits_parameters;  // not known to the compiler
  static constexpr int splits_gradients = 2;
  static constexpr double optimizer_shards(int dp) { return dp; }
#else
  static constexpr int splits_parameters = 1;
  static constexpr bool splits_gradients = true;
  static constexpr int optimizer_shards(int dp) { return dp; }
#endif
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
