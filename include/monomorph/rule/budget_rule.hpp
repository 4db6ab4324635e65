#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

/// The rule that a plan fits its budget. Where it does not, it names the largest parts of the memory and the change
/// that costs least time and would fit: the compiler plans the recipe again with each, until one fits.
namespace monomorph::rule {

/// The changes that are tried, in the order of what they cost.
enum class Change {
  recompute_cheap,  ///< computes norms and activation functions twice: a few percent
  shard_optimizer,  ///< ranks exchange as many bytes as with Replicate
  shard_grad_op,    ///< gradients are reduced once for every micro-batch
  full_shard,       ///< ranks exchange half as many bytes again
  host_state,       ///< master and state come to the device and go back once a step
  micro_batch,      ///< makes matrix products smaller
  offload,          ///< activations go to the host and come back for every micro-batch
  every_block,      ///< computes forward twice: a third more arithmetic
  full_shard_and_every_block,
  full_shard_every_block_and_micro_batch,
  all_on_host,  ///< the same, and parameters come to the device for every use
  none_of_these,
};

/// A recipe with another policy, which has only those members that the plan reads. What waits on the host goes on to do
/// so.
template <class R, Recompute what> struct Recomputing : R {
  struct checkpointing {
    static constexpr Recompute recompute(int) { return what; }
    static constexpr bool offloads(int block) { return monomorph::offloads<typename R::checkpointing>(block); }
  };
};
template <class R, bool parameters, bool gradients, MemorySpace space = parameter_space<typename R::sharding>>
struct Sharded : R {
  struct sharding {
    static constexpr bool splits_parameters = parameters, splits_gradients = gradients;
    static constexpr MemorySpace parameter_space = space;
    static constexpr int optimizer_shards(int dp) { return dp; }
  };
};
template <class R> struct Offloading : R {
  struct checkpointing {
    static constexpr Recompute recompute(int block) { return R::checkpointing::recompute(block); }
    static constexpr bool offloads(int) { return true; }
  };
};
template <class R> struct WithHostState : R {
  struct optimizer : R::optimizer {
    static constexpr MemorySpace state_space = MemorySpace::host;
  };
};

template <class R, int dp, std::int64_t micro_batch>
inline constexpr std::int64_t planned_bytes = plan::memory<R>(dp, micro_batch).budgeted();

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

/// A recipe that has been changed. One that is searched for its micro-batch is the recipe with the largest that fits.
template <Change change_, class R, bool searched_ = false> struct Candidate {
  static constexpr Change change = change_;
  using Recipe = R;
  static constexpr bool searched = searched_;
};
template <class... Candidates> struct CandidateList {};

template <class R> using RecomputedInShards = Sharded<Recomputing<R, Recompute::block>, true, true>;

/// In main memory nothing is gained by what waits on the host.
template <class R>
using CandidatesInMainMemory =
    CandidateList<Candidate<Change::recompute_cheap, Recomputing<R, Recompute::cheap>>,
                  Candidate<Change::shard_optimizer, Sharded<R, false, false>>,
                  Candidate<Change::shard_grad_op, Sharded<R, false, true>>,
                  Candidate<Change::full_shard, Sharded<R, true, true>>, Candidate<Change::micro_batch, R, true>,
                  Candidate<Change::every_block, Recomputing<R, Recompute::block>>,
                  Candidate<Change::full_shard_and_every_block, RecomputedInShards<R>>,
                  Candidate<Change::full_shard_every_block_and_micro_batch, RecomputedInShards<R>, true>>;
template <class R>
using CandidatesInOwnMemory = CandidateList<
    Candidate<Change::recompute_cheap, Recomputing<R, Recompute::cheap>>,
    Candidate<Change::shard_optimizer, Sharded<R, false, false>>,
    Candidate<Change::shard_grad_op, Sharded<R, false, true>>, Candidate<Change::full_shard, Sharded<R, true, true>>,
    Candidate<Change::host_state, WithHostState<R>>, Candidate<Change::micro_batch, R, true>,
    Candidate<Change::offload, Offloading<R>>, Candidate<Change::every_block, Recomputing<R, Recompute::block>>,
    Candidate<Change::full_shard_and_every_block, RecomputedInShards<R>>,
    Candidate<Change::full_shard_every_block_and_micro_batch, RecomputedInShards<R>, true>,
    Candidate<Change::all_on_host,
              WithHostState<Sharded<Recomputing<R, Recompute::block>, true, true, MemorySpace::host>>, true>>;
template <class R>
using Candidates =
    std::conditional_t<has_own_memory<device_of<R>>, CandidatesInOwnMemory<R>, CandidatesInMainMemory<R>>;

struct Proposal {
  Change change;
  std::int64_t micro_batch;
};
template <int dp, std::int64_t available, std::int64_t given> constexpr Proposal cheapest_change(CandidateList<>) {
  return {Change::none_of_these, given};
}
template <int dp, std::int64_t available, std::int64_t given, class First, class... Rest>
constexpr Proposal cheapest_change(CandidateList<First, Rest...>) {
  using R = typename First::Recipe;
  if constexpr (planned_bytes < R, dp, First::searched ? 1 : given >> available)
    return cheapest_change<dp, available, given>(CandidateList<Rest...>{});
  else if constexpr (First::searched)
    return {First::change, largest_micro_batch<R, dp, available, 1, given>()};
  else
    return {First::change, given};
}

enum class MemoryPart {
  parameters,
  compute_parameters,
  gathered_parameters,
  gradients,
  gathered_gradients,
  gradient_tree,
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
  device_communication,
  host_staging,
  communication,
};
struct PartBytes {
  MemoryPart part;
  std::int64_t bytes;
};
/// The part that only `n` others exceed, of what a budget counts.
constexpr PartBytes largest_part(const plan::Memory& memory, int n) {
  using enum MemoryPart;
  const auto in_main_memory = [&](std::int64_t bytes) { return memory.arena_on_host ? bytes : 0; };
  PartBytes parts[] = {{parameters, memory.master},
                       {compute_parameters, memory.compute_params},
                       {gathered_parameters, memory.gathered_params},
                       {gradients, memory.gradients},
                       {gathered_gradients, memory.gathered_gradients},
                       {gradient_tree, memory.gradient_tree},
                       {optimizer_state, memory.optimizer_state},
                       {optimizer_workspace, memory.optimizer_workspace},
                       {activations, memory.activations},
                       {statistics, memory.statistics},
                       {rotary, memory.rotary},
                       {scalars, memory.scalars},
                       {host_parameters, in_main_memory(memory.host_params)},
                       {host_optimizer, in_main_memory(memory.host_optimizer)},
                       {host_activations, in_main_memory(memory.host_activations)},
                       {device_workspace, memory.device_workspace},
                       {device_context, memory.device_context},
                       {device_communication, memory.device_communication},
                       {host_staging, in_main_memory(memory.host_staging)},
                       {communication, in_main_memory(memory.communication)}};
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
#define MONOMORPH_PROPOSE(proposed, text)                                                                      \
  static_assert(                                                                                               \
      holds || change != Change::proposed,                                                                     \
      "[PLAN-02] the planned bytes per rank must fit budget.bytes_per_rank; " text                             \
      " (the three largest parts and the micro-batch are among the operands; Offload and HostParameters stay " \
      "around what is changed; docs/rules.md#plan-02)");
  static consteval void explain() {
    MONOMORPH_PROPOSE(recompute_cheap, "change checkpointing to RecomputeCheap, which fits")
    MONOMORPH_PROPOSE(shard_optimizer, "change sharding to ShardOptimizer, which fits")
    MONOMORPH_PROPOSE(shard_grad_op, "change sharding to ShardGradOp, which fits")
    MONOMORPH_PROPOSE(full_shard, "change sharding to FullShard, which fits")
    MONOMORPH_PROPOSE(host_state, "put the optimizer in HostState, which fits")
    MONOMORPH_PROPOSE(micro_batch, "change Budget::micro_batch to that of FittingMicroBatch")
    MONOMORPH_PROPOSE(offload, "put checkpointing in Offload, which fits")
    MONOMORPH_PROPOSE(every_block, "change checkpointing to EveryBlock, which fits")
    MONOMORPH_PROPOSE(full_shard_and_every_block,
                      "change sharding to FullShard and checkpointing to EveryBlock, which fit together")
    MONOMORPH_PROPOSE(full_shard_every_block_and_micro_batch,
                      "change sharding to FullShard, checkpointing to EveryBlock and Budget::micro_batch to that of "
                      "FittingMicroBatch")
    MONOMORPH_PROPOSE(all_on_host,
                      "change sharding to HostParameters<FullShard>, put the optimizer in HostState, and change "
                      "checkpointing to EveryBlock and Budget::micro_batch to that of FittingMicroBatch")
    MONOMORPH_PROPOSE(none_of_these,
                      "change Budget::ranks or the model: even FullShard, EveryBlock and a micro-batch of 1 do not "
                      "fit, and what can wait on the host does not change that")
  }
#undef MONOMORPH_PROPOSE
};

template <class R, int dp, std::int64_t planned, std::int64_t available> constexpr Proposal proposal_of() {
  if constexpr (planned <= available)
    return {Change::none_of_these, 0};
  else
    return cheapest_change<dp, available, R::budget.micro_batch.value>(Candidates<R>{});
}

template <class R, int dp> consteval auto fits_budget() {
  constexpr plan::Memory memory = plan::memory<R>(dp, R::budget.micro_batch);
  constexpr std::int64_t planned = memory.budgeted(), available = R::budget.bytes_per_rank.value;
  constexpr PartBytes first = largest_part(memory, 0), second = largest_part(memory, 1),
                      third = largest_part(memory, 2);
  constexpr Proposal proposal = proposal_of<R, dp, planned, available>();
  return RuleList<
      PlanFitsBudget<R, planned, available, Part<first.part, first.bytes>, Part<second.part, second.bytes>,
                     Part<third.part, third.bytes>, proposal.change, FittingMicroBatch<proposal.micro_batch>>>{};
}

}  // namespace monomorph::rule
