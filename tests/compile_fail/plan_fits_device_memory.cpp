// On a device with a memory of its own the budget is of that memory, and what can wait on the host is proposed.
// expect-error: \[PLAN-02\] .*; put the optimizer in HostState, which fits
// expect-error: \[PLAN-02\] .*; put checkpointing in Offload, which fits
// expect-error: \[PLAN-02\] .*; change sharding to HostParameters<FullShard>, put the optimizer in HostState
// expect-error: \[PLAN-02\] .*; change checkpointing to RecomputeCheap, which fits
// expect-error: \[PLAN-02\] .*; change Budget::ranks or the model: even FullShard
// expect-text: Offload and HostParameters stay around what is changed
// expect-text: FittingMicroBatch<2>
// expect-text: Part<[^>]*activations, 3375104>
#include "support/control.hpp"
struct Gpu : monomorph::device::Cpu {
  static constexpr bool own_memory = true;
};
using monomorph::checkpointing::KeepAll;
using monomorph::checkpointing::Offload;
using monomorph::optim::AdamW;
using monomorph::optim::HostState;
template <class Optimizer, class Checkpointing, std::int64_t micro, std::int64_t bytes> struct Of : Control {
  using sharding = monomorph::sharding::Replicate;
  using checkpointing = Checkpointing;
  using optimizer = Optimizer;
  using device = Gpu;
  static constexpr monomorph::Budget budget{.ranks = 1,
                                            .bytes_per_rank = NEGATIVE ? bytes : monomorph::gib(1),
                                            .micro_batch = micro};
};
static_assert(monomorph::admit<Of<AdamW, KeepAll, 4, 7'700'000>>());
static_assert(monomorph::admit<Of<HostState<AdamW>, KeepAll, 1, 3'900'000>>());
static_assert(monomorph::admit<Of<AdamW, KeepAll, 16, 3'600'000>>());
static_assert(monomorph::admit<Of<AdamW, Offload<>, 16, 11'000'000>>());
static_assert(monomorph::admit<Of<AdamW, KeepAll, 4, 1'000'000>>());
