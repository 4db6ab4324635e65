#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/plan/recomputed_work.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/budget_rule.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>
#include <monomorph/rule/group_rules.hpp>
#include <monomorph/rule/operands.hpp>

namespace monomorph::rule {

template <std::int64_t planned, std::int64_t expected> struct ParametersAsExpected {
  static constexpr bool holds = planned == expected;
  static consteval void explain() {
    static_assert(
        holds,
        "[PLAN-01] the planned parameters must be as many as expected; change Expect::params (docs/rules.md#plan-01)");
  }
};
/// Shards are multiples of 64 elements, so that a rank may hold nothing but padding.
template <std::int64_t smallest_unit, int shards> struct ShardsHoldElements {
  static constexpr bool holds = shards == 1 || smallest_unit >= std::int64_t{alignment_elements} * shards;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-09] each rank must hold at least 64 elements of every unit, or it stores and sends padding "
                  "only; change sharding to a hybrid one, or Budget::ranks (docs/rules.md#shard-09)");
  }
};
template <int ranks, std::int64_t ranks_per_replica> struct RanksFormReplicas {
  static constexpr bool holds = ranks > 0 && (ranks_per_replica < 1 || replicas_of(ranks, ranks_per_replica) > 0);
  static consteval void explain() {
    static_assert(
        holds,
        "[PLAN-03] budget.ranks must be a positive multiple of tp pp cp; change Budget::ranks (docs/rules.md#plan-03)");
  }
};
template <std::int64_t bytes_per_rank> struct BudgetPositive {
  static constexpr bool holds = bytes_per_rank > 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[PLAN-04] budget.bytes_per_rank must be positive; change Budget::bytes_per_rank (docs/rules.md#plan-04)");
  }
};
template <std::int64_t bytes_per_rank> struct BudgetIsInBytes {
  static constexpr bool holds = bytes_per_rank <= 0 || bytes_per_rank >= 1 << 16;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-07] budget.bytes_per_rank must be at least 65536, as it is in bytes: write "
                  "`monomorph::gib(80)`; change Budget::bytes_per_rank (docs/rules.md#plan-07)");
  }
};
template <std::int64_t micro_batch> struct MicroBatchInRange {
  static constexpr bool holds = is_count(micro_batch);
  static consteval void explain() {
    static_assert(
        holds,
        "[PLAN-05] budget.micro_batch must lie in 1..16777216; change Budget::micro_batch (docs/rules.md#plan-05)");
  }
};
/// Together with the limits on sizes this makes all offsets of the plan fit 64 bits.
template <std::int64_t micro_batch, std::int64_t context_length> struct TokensCountable {
  static constexpr bool holds =
      !is_count(micro_batch) || !is_count(context_length) || 1.0 * micro_batch * context_length < 1 << 30;
  static consteval void explain() {
    static_assert(holds,
                  "[PLAN-06] budget.micro_batch x context_length, the tokens of a forward pass, must be below 2^30; "
                  "change Budget::micro_batch or context_length (docs/rules.md#plan-06)");
  }
};

template <class R> consteval auto budget_rules() {
  if constexpr (HasBudget<R>)
    return RuleList<RanksFormReplicas<R::budget.ranks.value, ranks_per_replica(mesh_of<R>)>,
                    BudgetPositive<R::budget.bytes_per_rank.value>, BudgetIsInBytes<R::budget.bytes_per_rank.value>,
                    MicroBatchInRange<R::budget.micro_batch.value>,
                    TokensCountable<R::budget.micro_batch.value, trunk_of<R>.context_length.value>>{};
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
    constexpr int dp = static_cast<int>(budgeted_replicas<R>);
    return RuleList<ShardsHoldElements<plan::smallest_unit<R>, R::sharding::optimizer_shards(dp)>>{} +
           fits_budget<R, dp>();
  } else {
    return RuleList<>{};
  }
}
template <class R> consteval auto offload_rules() {
  if constexpr (plan::offloads_some<R>)
    return RuleList<OffloadMovesSomething<plan::Activations<R>(1).moves_some()>>{};
  else
    return RuleList<>{};
}
/// Policies that know nothing of single choices are not asked: some keep all of blocks that have nothing cheap.
template <class R, unsigned chosen, std::size_t... i> consteval auto choice_rules_of(std::index_sequence<i...>) {
  return (RuleList<>{} + ... +
          RuleList<ChoiceSavesSomething<R, recompute_choices[i].chosen,
                                        (chosen >> i & 1U) == 0 || plan::saves_by_choice<R>(chosen & 1U << i)>>{});
}
template <class R> consteval auto choice_rules() {
  if constexpr (constexpr unsigned chosen = plan::single_choices<R>; chosen != 0)
    return choice_rules_of<R, chosen>(std::make_index_sequence<n_recompute_choices>{});
  else
    return RuleList<>{};
}
template <class R> consteval auto plan_rules() {
  return expectation_rules<R>() + memory_rules<R>() + offload_rules<R>() + choice_rules<R>() + group_member_rules<R>();
}

}  // namespace monomorph::rule
