#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/plan/memory_changes.hpp>
#include <monomorph/plan/recomputed_work.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

/// The rule that a plan fits its budget. Where it does not, it names the largest parts of the memory and the change
/// that costs least time and would fit: the compiler plans the recipe again with each, until one fits.
namespace monomorph::rule {

/// @tparam choice of Selective, where that is the change
template <class R, int dp, plan::PolicyChange change, std::int64_t micro_batch, Recompute choice = Recompute::nothing>
inline constexpr std::int64_t planned_bytes = plan::memory_with<R>(plan::changed(plan::strategy_of<R>(dp), change, dp,
                                                                                 plan::recompute_always<choice>),
                                                                   dp, micro_batch)
                                                  .budgeted();

/// The largest micro-batch of low..high that fits, if low does. Each step of the search is a constant of its own, as
/// compilers limit the work that evaluates one.
template <class R, int dp, plan::PolicyChange change, std::int64_t available, std::int64_t low, std::int64_t high>
constexpr std::int64_t largest_micro_batch() {
  if constexpr (low == high) {
    return low;
  } else {
    constexpr std::int64_t middle = low + (high - low + 1) / 2;
    constexpr bool fits = planned_bytes<R, dp, change, middle> <= available;
    return largest_micro_batch < R, dp, change, available, fits ? middle : low, fits ? high : middle - 1 > ();
  }
}

/// No change, if none is enough.
struct Proposal {
  plan::MemoryChange change;
  std::int64_t micro_batch;
  Recompute choice{};  ///< of Selective
};
template <class R>
inline constexpr plan::SelectiveChoices selective_choices = plan::selective_choices([](Recompute again) {
  return plan::total_work(plan::n_layers<R>, plan::recomputed_work<R>, again);
});
/// The first choice from the i-th one that fits, or nothing.
template <class R, int dp, std::int64_t available, std::int64_t micro_batch, int i = 0>
constexpr Recompute first_fitting_choice() {
  if constexpr (i == selective_choices<R>.n) {
    return Recompute::nothing;
  } else {
    constexpr Recompute choice = selective_choices<R>.choices[i];
    if constexpr (planned_bytes<R, dp, plan::PolicyChange::selective, micro_batch, choice> <= available)
      return choice;
    else
      return first_fitting_choice<R, dp, available, micro_batch, i + 1>();
  }
}
template <class R, int dp, std::int64_t available, std::int64_t given, int first = 0>
constexpr Proposal cheapest_change() {
  if constexpr (first == plan::n_memory_changes) {
    return {{}, given};
  } else {
    constexpr plan::MemoryChange change = plan::memory_changes[first];
    if constexpr ((plan::needs_own_memory(change.policies) && !has_own_memory<device_of<R>>) ||
                  (plan::needs_ranks(change.policies) && dp == 1))
      return cheapest_change<R, dp, available, given, first + 1>();
    else if constexpr (change.policies == plan::PolicyChange::selective) {
      constexpr Recompute choice = first_fitting_choice<R, dp, available, given>();
      if constexpr (choice == Recompute::nothing)
        return cheapest_change<R, dp, available, given, first + 1>();
      else
        return {change, given, choice};
    } else if constexpr (planned_bytes < R, dp, change.policies, change.smaller_micro_batch ? 1 : given >> available)
      return cheapest_change<R, dp, available, given, first + 1>();
    else if constexpr (change.smaller_micro_batch)
      return {change, largest_micro_batch<R, dp, change.policies, available, 1, given>()};
    else
      return {change, given};
  }
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
  teacher,
  host_parameters,
  host_optimizer,
  host_activations,
  host_teacher,
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
                       {teacher, memory.teacher},
                       {host_parameters, in_main_memory(memory.host_params)},
                       {host_optimizer, in_main_memory(memory.host_optimizer)},
                       {host_activations, in_main_memory(memory.host_activations)},
                       {host_teacher, in_main_memory(memory.host_teacher)},
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
/// What Selective chooses: its fields are those of Recompute.
template <bool norm, bool activation, bool qkv, bool attention, bool projection, bool mlp> struct FittingChoice;

template <class Recipe, std::int64_t planned, std::int64_t available, class First, class Second, class Third,
          plan::MemoryChange change, class MicroBatch, class Choice>
struct PlanFitsBudget {
  static constexpr bool holds = planned <= available;
  template <plan::PolicyChange policies, bool smaller_micro_batch = false>
  static constexpr bool not_proposed = holds || change != plan::MemoryChange{policies, smaller_micro_batch};
#define MONOMORPH_PROPOSE(condition, text)                                                                           \
  static_assert(condition, "[PLAN-02] the planned bytes per rank must fit budget.bytes_per_rank; " text              \
                           " (the three largest parts, the micro-batch and what FittingChoice has of Recompute are " \
                           "among the operands; Offload and HostParameters stay around what is changed; "            \
                           "docs/rules.md#plan-02)");
#define MONOMORPH_PROPOSE_POLICIES(policies, words)                                   \
  MONOMORPH_PROPOSE(not_proposed<plan::PolicyChange::policies>, words ", which fits") \
  MONOMORPH_PROPOSE((not_proposed<plan::PolicyChange::policies, true>),               \
                    words ", and change Budget::micro_batch to that of FittingMicroBatch")
  static consteval void explain() {
    MONOMORPH_MEMORY_CHANGES(MONOMORPH_PROPOSE_POLICIES)
    MONOMORPH_PROPOSE((not_proposed<plan::PolicyChange::none, true>),
                      "change Budget::micro_batch to that of FittingMicroBatch")
    MONOMORPH_PROPOSE(not_proposed<plan::PolicyChange::none>,
                      "change Budget::ranks or the model: even FullShard, EveryBlock and a micro-batch of 1 do not "
                      "fit, and what can wait on the host does not change that")
  }
#undef MONOMORPH_PROPOSE_POLICIES
#undef MONOMORPH_PROPOSE
};

template <class R, int dp, std::int64_t planned, std::int64_t available> constexpr Proposal proposal_of() {
  if constexpr (planned <= available)
    return {{}, 0};
  else
    return cheapest_change<R, dp, available, R::budget.micro_batch.value>();
}

template <class R, int dp> consteval auto fits_budget() {
  constexpr plan::Memory memory = plan::memory<R>(dp, R::budget.micro_batch);
  constexpr std::int64_t planned = memory.budgeted(), available = R::budget.bytes_per_rank.value;
  constexpr PartBytes first = largest_part(memory, 0), second = largest_part(memory, 1),
                      third = largest_part(memory, 2);
  constexpr Proposal proposal = proposal_of<R, dp, planned, available>();
  constexpr Recompute choice = proposal.choice;
  return RuleList<PlanFitsBudget<
      R, planned, available, Part<first.part, first.bytes>, Part<second.part, second.bytes>,
      Part<third.part, third.bytes>, proposal.change, FittingMicroBatch<proposal.micro_batch>,
      FittingChoice<choice.norm, choice.activation, choice.qkv, choice.attention, choice.projection, choice.mlp>>>{};
}

}  // namespace monomorph::rule
