#pragma once
#include <cstdint>
#include <monomorph/core/rule.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/spec/mixture_spec.hpp>

/// Rules about mixtures of experts. Real numbers are compared within the spec, which is a template argument as a whole.
namespace monomorph::rule {

constexpr bool is_finite_and_not_negative(double x) { return x >= 0 && x < 1e30; }

template <int n_experts> struct ExpertsInRange {
  static constexpr bool holds = 2 <= n_experts && n_experts <= most_experts;
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-01] n_experts must lie in 2..1024; change MixtureSpec::n_experts, or take a dense MLP "
                  "(docs/rules.md#moe-01)");
  }
};
template <int top_k, int n_experts> struct TopExpertsInRange {
  static constexpr bool holds = n_experts < 2 || (1 <= top_k && top_k < n_experts);
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-02] top_k must be at least 1 and below n_experts, or a router has nothing to choose; change "
                  "MixtureSpec::top_k (docs/rules.md#moe-02)");
  }
};
template <std::int64_t d_expert> struct ExpertWidthInRange {
  static constexpr bool holds = 1 <= d_expert && d_expert <= 1 << 24;
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-03] d_expert must lie in 1..16777216; change MixtureSpec::d_expert (docs/rules.md#moe-03)");
  }
};
template <MixtureSpec spec> struct CapacityInRange {
  static constexpr double most = static_cast<double>(spec.n_experts.value) / (spec.top_k > 0 ? spec.top_k.value : 1);
  static constexpr bool holds = !spec.capacity_factor.given || spec.n_experts < 2 ||
                                (spec.capacity_factor.value > 0 && spec.capacity_factor.value < most);
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-04] capacity_factor must be above 0 and below n_experts / top_k, from where on no token can be "
                  "dropped; change MixtureSpec::capacity_factor, or leave it out (docs/rules.md#moe-04)");
  }
};
template <int n_shared> struct SharedExpertsInRange {
  static constexpr bool holds = 0 <= n_shared && n_shared <= most_experts;
  static consteval void explain() {
    static_assert(holds, "[MOE-05] n_shared must lie in 0..1024; change MixtureSpec::n_shared (docs/rules.md#moe-05)");
  }
};
template <MixtureSpec spec> struct BalanceNotNegative {
  static constexpr bool holds = is_finite_and_not_negative(spec.balance_loss) &&
                                is_finite_and_not_negative(spec.z_loss) && is_finite_and_not_negative(spec.bias_rate);
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-06] balance_loss, z_loss and bias_rate must be finite and at least 0; change MixtureSpec "
                  "(docs/rules.md#moe-06)");
  }
};
template <MixtureSpec spec> struct RouterLossNeedsSoftmax {
  static constexpr bool holds = !(spec.z_loss > 0) || spec.scores == RouterScores::softmax;
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-07] z_loss must be 0 where scores is sigmoid, which has no log-sum-exp; change "
                  "MixtureSpec::z_loss or MixtureSpec::scores (docs/rules.md#moe-07)");
  }
};
template <int top_k, bool normalize> struct SingleExpertKeepsScore {
  static constexpr bool holds = top_k != 1 || !normalize;
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-08] normalize must be false where top_k is 1: the weight would always be 1, and the router "
                  "would not learn; change MixtureSpec::normalize (docs/rules.md#moe-08)");
  }
};
template <bool bias> struct ExpertsHaveNoBias {
  static constexpr bool holds = !bias;
  static consteval void explain() {
    static_assert(holds,
                  "[MOE-09] bias.mlp must be false with a mixture, whose experts have none; change BiasSpec::mlp "
                  "(docs/rules.md#moe-09)");
  }
};

template <MixtureSpec mixture> struct MixtureFields { static constexpr MixtureSpec spec = mixture; };

/// Values are judged when all fields are given as they must be.
template <MixtureSpec spec, std::int64_t d_expert, bool bias> consteval auto mixture_rules() {
  if constexpr (!FieldsFit<MixtureFields<spec>>::holds)
    return RuleList<FieldsFit<MixtureFields<spec>>>{};
  else
    return RuleList<ExpertsInRange<spec.n_experts.value>, TopExpertsInRange<spec.top_k.value, spec.n_experts.value>,
                    ExpertWidthInRange<d_expert>, CapacityInRange<spec>, SharedExpertsInRange<spec.n_shared.value>,
                    BalanceNotNegative<spec>, RouterLossNeedsSoftmax<spec>,
                    SingleExpertKeepsScore<spec.top_k.value, spec.normalize.value>, ExpertsHaveNoBias<bias>>{};
}

}  // namespace monomorph::rule
