// A member that every recipe must have is named by the shape concept.
// expect-error(gcc): no matching function for call to .admit<Case>
// expect-error(clang): no matching function for call to 'admit'
// expect-text(gcc): required type 'typename R::optimizer' is invalid
// expect-text(clang): no type named 'optimizer' in 'Case'
#include <monomorph/run.hpp>
struct Case {
  static constexpr auto model = monomorph::models::gpt2_124m;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
#if !NEGATIVE
  using optimizer = monomorph::optim::AdamW;
#endif
};
static_assert(monomorph::admit<Case>());
