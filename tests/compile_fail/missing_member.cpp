// expect-error: \[RECIPE-05\] a recipe must have optimizer; write `using optimizer = monomorph::optim::AdamW;`
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
