// Each recipe fits with one change and not with a cheaper one.
// expect-error: \[PLAN-02\] the planned bytes per rank must fit budget\.bytes_per_rank; .* to ShardOptimizer, which
// expect-error: \[PLAN-02\] .*; change checkpointing to RecomputeCheap, which fits
// expect-error: \[PLAN-02\] .*; change sharding to ShardGradOp, which fits
// expect-error: \[PLAN-02\] .*; change sharding to FullShard, which fits
// expect-error: \[PLAN-02\] .*; change Budget::micro_batch to that of FittingMicroBatch
// expect-error: \[PLAN-02\] .*; change checkpointing to Selective<Recompute\{\.\.\.\}>, which fits
// expect-error: \[PLAN-02\] .*; change sharding to FullShard, and change Budget::micro_batch to that of FittingMicroBatch
// expect-error: \[PLAN-02\] .*; change checkpointing to EveryBlock, which fits
// expect-error: \[PLAN-02\] .*; change sharding to FullShard and checkpointing to EveryBlock, which fits
// expect-error: \[PLAN-02\] .*; change checkpointing to EveryBlock, and change Budget::micro_batch to that of FittingMicroBatch
// expect-error: \[PLAN-02\] .*; change sharding to FullShard and checkpointing to EveryBlock, and change Budget::micro_batch to
// expect-error: \[PLAN-02\] .*; change Budget::ranks or the model: even FullShard
// expect-text: Part<[^>]*communication, 8597504>
// expect-text: Part<[^>]*activations, 3375104>
// expect-text: Part<[^>]*optimizer_state, 2572288>
// expect-text: FittingMicroBatch<4>
// expect-text: FittingMicroBatch<2>
// expect-text: FittingMicroBatch<3>
// expect-text: FittingChoice<true, true, true, true, false, false>
#include "support/control.hpp"
template <class Sharding, class Checkpointing, std::int64_t micro, std::int64_t bytes, int ranks = 4>
struct Of : Control {
  using sharding = Sharding;
  using checkpointing = Checkpointing;
  static constexpr monomorph::Budget budget{.ranks = ranks,
                                            .bytes_per_rank = NEGATIVE ? bytes : monomorph::gib(1),
                                            .micro_batch = micro};
};
using monomorph::checkpointing::KeepAll;
using monomorph::sharding::FullShard;
using monomorph::sharding::Replicate;
static_assert(monomorph::admit<Of<Replicate, KeepAll, 4, 15'411'000>>());
static_assert(monomorph::admit<Of<FullShard, KeepAll, 4, 13'511'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 4, 15'311'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 4, 14'511'000>>());
static_assert(monomorph::admit<Of<FullShard, KeepAll, 16, 14'511'000>>());
static_assert(monomorph::admit<Of<FullShard, KeepAll, 1, 11'333'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 4, 13'111'000>>());
static_assert(monomorph::admit<Of<FullShard, KeepAll, 1, 11'161'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 1, 11'211'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 16, 6'000'000, 1>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 16, 11'411'000>>());
static_assert(monomorph::admit<Of<Replicate, KeepAll, 4, 1'000'000>>());
