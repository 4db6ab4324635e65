#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/optim/parts_are_not_grouped.hpp>

namespace monomorph::optim {

namespace detail {
/// Where Groups has no list, what is no list, which OPTIM-02 says in its words.
inline constexpr int no_groups = 0;
template <class Groups> constexpr const auto& listed_groups() {
  if constexpr (ListsGroups<Groups>)
    return Groups::groups;
  else
    return no_groups;
}
}  // namespace detail

/// An optimiser whose learning rate and weight decay are multiplied by factors for some parameters, as PyTorch's
/// parameter groups have values of their own:
///
///   struct Groups {
///     static constexpr monomorph::ParameterGroup groups[] = {
///         {.parameters = "embedding.weight", .lr_multiplier = 0.1},
///         {.parameters = monomorph::ParameterClass::norm, .weight_decay_multiplier = 0}};
///   };
///   using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
///
/// The state means the same with any factors, so a run may go on with others. Of what is no optimiser the gate says
/// what it lacks.
template <class Optimizer, class Groups> struct Grouped { using combined = CombinedPolicies<Optimizer>; };
template <OptimizerPolicy Optimizer, class Groups> struct Grouped<Optimizer, Groups> : Optimizer {
  using combined = CombinedPolicies<Optimizer>;
  using without_placement = Optimizer;
  using placed = Grouped;
  using Hparams = typename Optimizer::Hparams;
  template <class R>
  using rules = decltype(exported_rules<Optimizer, R>() + RuleList<rule::NoneIsGrouped<Optimizer>>{});
  static constexpr const auto& groups = detail::listed_groups<Groups>();

  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    auto terms_of_run = terms;
    terms_of_run.rate_times *= run.multipliers.lr;
    Hparams hparams_of_run = hparams;
    if constexpr (scales_weight_decay<Optimizer>)
      scale_weight_decay<Optimizer>(hparams_of_run, run.multipliers.weight_decay);
    Optimizer::update(queue, run, hparams_of_run, terms_of_run);
  }
};

}  // namespace monomorph::optim
