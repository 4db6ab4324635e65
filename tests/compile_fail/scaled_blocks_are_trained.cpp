// expect-error: \[PREC-12\] something of every block must be trained where products are in fp8
// expect-error: \[PREC-12\] something of every block must be trained where products are in fp8
// expect-text: ScaledBlocksAreTrained<.*FreezeFirst<1
// expect-text: ScaledBlocksAreTrained<.*TrainOnly<
#include "support/control.hpp"
struct Case : Control {
  using precision = monomorph::precision::Fp8Mixed;
#if NEGATIVE
  using finetuning = monomorph::finetuning::FreezeFirst<1>;
#endif
};
struct Chosen {
#if NEGATIVE
  static constexpr monomorph::ParameterSelector parameters[] = {"layers.0.*"};
#else
  static constexpr monomorph::ParameterSelector parameters[] = {"layers.*_norm.weight"};
#endif
};
struct Partly : Control {
  using precision = monomorph::precision::Fp8Mixed;
  using finetuning = monomorph::finetuning::TrainOnly<Chosen>;
};
struct Adapted : Control {
  using precision = monomorph::precision::Fp8Mixed;
  using finetuning = monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 8, .alpha = 16}>;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Partly>());
static_assert(monomorph::admit<Adapted>());
