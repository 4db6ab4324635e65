#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/spec/low_rank_spec.hpp>

/// Rules about low-rank adapters that their spec alone can break. Real numbers are compared within the spec, which is a
/// template argument as a whole.
namespace monomorph {

namespace rule {

template <int rank, std::int64_t d_model> struct RankWithinWidth {
  static constexpr bool holds = d_model < 1 || (1 <= rank && rank <= d_model);
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-01] the rank of adapters must lie in 1..d_model; change LowRankSpec::rank "
                  "(docs/rules.md#lora-01)");
  }
};
template <LowRankSpec spec> struct AlphaIsPositive {
  static constexpr bool holds = spec.alpha > 0 && spec.alpha < 1e30;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-02] the alpha of adapters must be finite and above 0; change LowRankSpec::alpha "
                  "(docs/rules.md#lora-02)");
  }
};
template <LowRankSpec spec> struct AdapterDropoutIsProbability {
  static constexpr bool holds = spec.dropout >= 0 && spec.dropout < 1;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-03] the dropout of adapters must lie in [0, 1); change LowRankSpec::dropout "
                  "(docs/rules.md#lora-03)");
  }
};
template <bool has_some> struct AdaptsSomething {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-04] adapters must have a target; set one in LowRankSpec::targets to true "
                  "(docs/rules.md#lora-04)");
  }
};

template <LowRankSpec low_rank> struct LowRankFields { static constexpr LowRankSpec spec = low_rank; };

/// Values are judged when all fields are given as they must be.
template <LowRankSpec spec, std::int64_t d_model> consteval auto low_rank_rules() {
  if constexpr (!FieldsFit<LowRankFields<spec>>::holds)
    return RuleList<FieldsFit<LowRankFields<spec>>>{};
  else
    return RuleList<RankWithinWidth<spec.rank.value, d_model>, AlphaIsPositive<spec>, AdapterDropoutIsProbability<spec>,
                    AdaptsSomething<spec.targets != LowRankTargets{.query = false, .value = false}>>{};
}

}  // namespace rule

namespace finetuning {

/// Low-rank adapters beside the products that `spec` names are trained, and nothing else is
/// (docs/reference/lora.md): `LowRank<LowRankSpec{.rank = 8, .alpha = 16}>`.
template <LowRankSpec spec> struct LowRank {
  static constexpr LowRankSpec low_rank = spec;
  static constexpr bool trains(UnitKind /*kind*/, int /*block*/) { return true; }
  static constexpr bool trains_parameter(std::string_view name, ParameterClass /*parameter_class*/) {
    return is_of_adapter(name);
  }
  template <class R> using rules = decltype(rule::low_rank_rules<spec, trunk_of<R>.d_model.value>());
};

}  // namespace finetuning
}  // namespace monomorph
