#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::rule {

template <DType state, DType master> struct StateRoundsMasters {
  static constexpr bool holds = state == master || (state == DType::bf16 && master == DType::fp32);
  static consteval void explain() {
    static_assert(
        holds,
        "[OPTIM-01] the optimizer's state must have the dtype of the masters, or bf16 beside fp32 masters; take "
        "the optimizer out of Bf16State, or change precision (docs/rules.md#optim-01)");
  }
};
/// An optimiser of whole matrices makes updates that are nearly orthogonal. That suits matrices which multiply
/// features, and not token tables, norms or biases.
template <bool embedding, bool norm, bool bias> struct MatricesAreOfBlocks {
  static constexpr bool holds = !embedding && !norm && !bias;
  static consteval void explain() {
    static_assert(
        holds,
        "[OPTIM-03] an optimizer of whole matrices must leave embeddings, norms and biases to another one; write "
        "optimizer = ByClass<Muon, AdamW> (docs/rules.md#optim-03)");
  }
};

template <class Optimizer, ParameterClass of>
inline constexpr bool takes_matrices_of = Optimizer::scope(of) == UpdateScope::matrices;
template <class R> consteval auto optimizer_rules() {
  using Optimizer = typename R::optimizer;
  using enum ParameterClass;
  return RuleList<StateRoundsMasters<state_dtype<Optimizer>(R::precision::master_dtype), R::precision::master_dtype>,
                  MatricesAreOfBlocks<takes_matrices_of<Optimizer, embedding>, takes_matrices_of<Optimizer, norm>,
                                      takes_matrices_of<Optimizer, bias>>>{};
}

}  // namespace monomorph::rule
