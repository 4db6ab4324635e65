#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>

/// The rule that a plan fits its budget. Where it does not, it names the largest parts of the memory and the change
/// that costs least time and would fit: the compiler plans the recipe again with each, until one fits.
namespace monomorph::rule {

/// The changes that are tried, in the order of what they cost.
enum class Change {
  recompute_cheap,  ///< computes norms and activation functions twice: a few percent
  shard_optimizer,  ///< ranks exchange as many bytes as with Replicate
  shard_grad_op,    ///< gradients are reduced once for every micro-batch
  full_shard,       ///< ranks exchange half as many bytes again
  micro_batch,      ///< makes matrix products smaller
  every_block,      ///< computes forward twice: a third more arithmetic
  full_shard_and_every_block,
  full_shard_every_block_and_micro_batch,
  none_of_these,
};

/// A recipe with another policy, which has only those members that the plan reads.
template <class R, Recompute what> struct Recomputing : R {
  struct checkpointing {
    static constexpr Recompute recompute(int) { return what; }
  };
};
template <class R, bool parameters, bool gradients> struct Sharded : R {
  struct sharding {
    static constexpr bool splits_parameters = parameters, splits_gradients = gradients;
    static constexpr int optimizer_shards(int dp) { return dp; }
  };
};

template <class R, int dp, std::int64_t micro_batch>
inline constexpr std::int64_t planned_bytes = plan::memory<R>(dp, micro_batch).total();

/// The largest micro-batch of low..high that fits, if low does. Each step of the search is a constant of its own, as
/// compilers limit the work that evaluates one.
template <class R, int dp, std::int64_t available, std::int64_t low, std::int64_t high>
constexpr std::int64_t largest_micro_batch() {
  if constexpr (low == high) {
    return low;
  } else {
    constexpr std::int64_t middle = low + (high - low + 1) / 2;
    constexpr bool fits = planned_bytes<R, dp, middle> <= available;
    return largest_micro_batch < R, dp, available, fits ? middle : low, fits ? high : middle - 1 > ();
  }
}

struct Proposal {
  Change change;
  std::int64_t micro_batch;
};
template <class R, int dp, std::int64_t available> constexpr Proposal cheapest_change() {
  using All = Sharded<Recomputing<R, Recompute::block>, true, true>;
  constexpr std::int64_t given = R::budget.micro_batch.value;
  if constexpr (planned_bytes<Recomputing<R, Recompute::cheap>, dp, given> <= available)
    return {Change::recompute_cheap, given};
  else if constexpr (planned_bytes<Sharded<R, false, false>, dp, given> <= available)
    return {Change::shard_optimizer, given};
  else if constexpr (planned_bytes<Sharded<R, false, true>, dp, given> <= available)
    return {Change::shard_grad_op, given};
  else if constexpr (planned_bytes<Sharded<R, true, true>, dp, given> <= available)
    return {Change::full_shard, given};
  else if constexpr (planned_bytes<R, dp, 1> <= available)
    return {Change::micro_batch, largest_micro_batch<R, dp, available, 1, given>()};
  else if constexpr (planned_bytes<Recomputing<R, Recompute::block>, dp, given> <= available)
    return {Change::every_block, given};
  else if constexpr (planned_bytes<All, dp, given> <= available)
    return {Change::full_shard_and_every_block, given};
  else if constexpr (planned_bytes<All, dp, 1> <= available)
    return {Change::full_shard_every_block_and_micro_batch, largest_micro_batch<All, dp, available, 1, given>()};
  else
    return {Change::none_of_these, given};
}

enum class MemoryPart {
  parameters,
  compute_parameters,
  gathered_parameters,
  gradients,
  gathered_gradients,
  optimizer_state,
  optimizer_workspace,
  activations,
  statistics,
  rotary,
  scalars,
  host_parameters,
  host_optimizer,
  host_activations,
  device_workspace,
  device_context,
  host_staging,
  communication,
};
struct PartBytes {
  MemoryPart part;
  std::int64_t bytes;
};
/// The part that only `n` others exceed.
constexpr PartBytes largest_part(const plan::Memory& memory, int n) {
  using enum MemoryPart;
  PartBytes parts[] = {{parameters, memory.master},
                       {compute_parameters, memory.compute_params},
                       {gathered_parameters, memory.gathered_params},
                       {gradients, memory.gradients},
                       {gathered_gradients, memory.gathered_gradients},
                       {optimizer_state, memory.optimizer_state},
                       {optimizer_workspace, memory.optimizer_workspace},
                       {activations, memory.activations},
                       {statistics, memory.statistics},
                       {rotary, memory.rotary},
                       {scalars, memory.scalars},
                       {host_parameters, memory.host_params},
                       {host_optimizer, memory.host_optimizer},
                       {host_activations, memory.host_activations},
                       {device_workspace, memory.device_workspace},
                       {device_context, memory.device_context},
                       {host_staging, memory.host_staging},
                       {communication, memory.communication}};
  for (;; --n) {
    PartBytes* largest = parts;
    for (PartBytes& part : parts)
      if (part.bytes > largest->bytes) largest = &part;
    if (n == 0) return *largest;
    largest->bytes = -1;
  }
}

/// A part of the memory of each rank, as an operand that compilers print.
template <MemoryPart part, std::int64_t bytes> struct Part;
template <std::int64_t micro_batch> struct FittingMicroBatch;

template <class Recipe, std::int64_t planned, std::int64_t available, class First, class Second, class Third,
          Change change, class MicroBatch>
struct PlanFitsBudget {
  static constexpr bool holds = planned <= available;
#define MONOMORPH_PROPOSE(proposed, text)                                                    \
  static_assert(holds || change != Change::proposed,                                         \
                "[PLAN-02] the planned bytes per rank must fit budget.bytes_per_rank; " text \
                " (the three largest parts and the micro-batch are among the operands; docs/rules.md#plan-02)");
  static consteval void explain() {
    MONOMORPH_PROPOSE(recompute_cheap, "change checkpointing to RecomputeCheap, which fits")
    MONOMORPH_PROPOSE(shard_optimizer, "change sharding to ShardOptimizer, which fits")
    MONOMORPH_PROPOSE(shard_grad_op, "change sharding to ShardGradOp, which fits")
    MONOMORPH_PROPOSE(full_shard, "change sharding to FullShard, which fits")
    MONOMORPH_PROPOSE(micro_batch, "change Budget::micro_batch to that of FittingMicroBatch")
    MONOMORPH_PROPOSE(every_block, "change checkpointing to EveryBlock, which fits")
    MONOMORPH_PROPOSE(full_shard_and_every_block,
                      "change sharding to FullShard and checkpointing to EveryBlock, which fit together")
    MONOMORPH_PROPOSE(full_shard_every_block_and_micro_batch,
                      "change sharding to FullShard, checkpointing to EveryBlock and Budget::micro_batch to that of "
                      "FittingMicroBatch")
    MONOMORPH_PROPOSE(none_of_these,
                      "change Budget::ranks or the model: even FullShard, EveryBlock and a micro-batch of 1 do not fit")
  }
#undef MONOMORPH_PROPOSE
};

template <class R, int dp> consteval auto fits_budget() {
  constexpr plan::Memory memory = plan::memory<R>(dp, R::budget.micro_batch);
  constexpr std::int64_t planned = memory.total(), available = R::budget.bytes_per_rank.value;
  constexpr PartBytes first = largest_part(memory, 0), second = largest_part(memory, 1),
                      third = largest_part(memory, 2);
  constexpr Proposal proposal = [] {
    if constexpr (planned <= available)
      return Proposal{Change::none_of_these, 0};
    else
      return cheapest_change<R, dp, available>();
  }();
  return RuleList<
      PlanFitsBudget<R, planned, available, Part<first.part, first.bytes>, Part<second.part, second.bytes>,
                     Part<third.part, third.bytes>, proposal.change, FittingMicroBatch<proposal.micro_batch>>>{};
}

}  // namespace monomorph::rule
