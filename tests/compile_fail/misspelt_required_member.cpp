// A required member that is misspelt is missing, too: the shape concept says which one.
// expect-error(gcc): no matching function for call to .admit<Case>
// expect-error(clang): no matching function for call to 'admit'
// expect-text(gcc): required type 'typename R::precision' is invalid
// expect-text(clang): no type named 'precision' in 'Case'
#include <monomorph/run.hpp>
struct Case {
  static constexpr auto model = monomorph::models::gpt2_124m;
  using sharding = monomorph::sharding::FullShard;
#if NEGATIVE
  using precission = monomorph::precision::Fp32;
#else
  using precision = monomorph::precision::Fp32;
#endif
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};
static_assert(monomorph::admit<Case>());
