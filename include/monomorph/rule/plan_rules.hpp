#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/operands.hpp>

namespace monomorph::rule {

template <std::int64_t planned, std::int64_t expected> struct ParametersAsExpected {
  static constexpr bool holds = planned == expected;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-01] the planned parameters must be as many as expected; change Expect::params "
                  "(docs/rules.md#plan-01)");
  }
};
/// All in bytes per rank; the last three are what the planned ones are most likely made of.
template <std::int64_t planned, std::int64_t available, std::int64_t parameters_and_moments, std::int64_t gradients,
          std::int64_t activations>
struct PlanFitsBudget {
  static constexpr bool holds = planned <= available;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-02] the planned bytes per rank must fit budget.bytes_per_rank; change checkpointing, sharding "
                  "or Budget::micro_batch (docs/rules.md#plan-02)");
  }
};
template <int ranks, std::int64_t ranks_per_replica> struct RanksFormReplicas {
  static constexpr bool holds = ranks > 0 && (ranks_per_replica < 1 || ranks % ranks_per_replica == 0);
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-03] budget.ranks must be a positive multiple of tp pp cp; change Budget::ranks "
                  "(docs/rules.md#plan-03)");
  }
};
template <std::int64_t bytes_per_rank> struct BudgetPositive {
  static constexpr bool holds = bytes_per_rank > 0;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-04] budget.bytes_per_rank must be positive; change Budget::bytes_per_rank "
                  "(docs/rules.md#plan-04)");
  }
};
template <std::int64_t micro_batch> struct MicroBatchInRange {
  static constexpr bool holds = is_count(micro_batch);
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-05] budget.micro_batch must lie in 1..16777216; change Budget::micro_batch "
                  "(docs/rules.md#plan-05)");
  }
};
/// Together with the limits on sizes: all offsets of the plan fit 64 bits.
template <std::int64_t micro_batch, std::int64_t context_length> struct TokensCountable {
  static constexpr bool holds =
      !is_count(micro_batch) || !is_count(context_length) || micro_batch * context_length < 1 << 30;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-06] budget.micro_batch x context_length, the tokens of a forward pass, must be below 2^30; "
                  "change Budget::micro_batch or ModelSpec::context_length (docs/rules.md#plan-06)");
  }
};

template <class R> consteval auto budget_rules() {
  if constexpr (HasBudget<R>)
    return RuleList<RanksFormReplicas<R::budget.ranks.value, ranks_per_replica(mesh_of<R>)>,
                    BudgetPositive<R::budget.bytes_per_rank.value>, MicroBatchInRange<R::budget.micro_batch.value>,
                    TokensCountable<R::budget.micro_batch.value, R::model.context_length.value>>{};
  else
    return RuleList<>{};
}

/// What is planned: judged only when all value rules hold.
template <class R> consteval auto expectation_rules() {
  if constexpr (HasExpect<R>)
    return RuleList<ParametersAsExpected<plan::params<R>, R::expect.params.value>>{};
  else
    return RuleList<>{};
}
template <class R> consteval auto memory_rules() {
  if constexpr (HasBudget<R>) {
    constexpr plan::Memory memory = plan::memory<R>(static_cast<int>(budgeted_replicas<R>), R::budget.micro_batch);
    return RuleList<PlanFitsBudget<memory.total(), R::budget.bytes_per_rank.value,
                                   memory.master + memory.optimizer_state, memory.gradients, memory.activations>>{};
  } else {
    return RuleList<>{};
  }
}
template <class R> consteval auto plan_rules() { return expectation_rules<R>() + memory_rules<R>(); }

}  // namespace monomorph::rule
