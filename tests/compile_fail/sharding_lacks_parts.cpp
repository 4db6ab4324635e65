// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr std::string_view name`
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr int param_shards\(int dp\)`
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr int gradient_shards\(int dp\)`
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr int optimizer_shards\(int dp\)`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  std::string_view name = "Own";  // not static
  static constexpr double param_shards(int dp) { return dp; }
  static int gradient_shards(int dp) { return dp; }  // not constexpr
  static constexpr int optimizer_shards = 1;
#else
  static constexpr const char* name = "Own";
  static constexpr int param_shards(int dp) { return dp; }
  static constexpr int gradient_shards(int dp) { return dp; }
  static constexpr int optimizer_shards(int dp) { return dp; }
#endif
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
