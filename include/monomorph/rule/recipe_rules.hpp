#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/spec/mesh_spec.hpp>

/// Which rules a recipe is judged by, and with which operands.
namespace monomorph {

/// A recipe's `mesh`, or one without model parallelism.
template <class R> inline constexpr MeshSpec mesh_of = [] {
  if constexpr (requires { R::mesh; })
    return R::mesh;
  else
    return MeshSpec{};
}();

namespace rule {

template <class Policy, class R> consteval auto rules_from() {
  if constexpr (requires { typename Policy::template rules<R>; })
    return typename Policy::template rules<R>{};
  else
    return RuleList<>{};
}

template <class R> consteval auto value_rules() {
  constexpr const auto& model = R::model;
  return RuleList<LayersPositive<model.n_layers.value>>{} + rules_from<typename R::checkpointing, R>() +
         rules_from<typename R::sharding, R>();
}

}  // namespace rule
}  // namespace monomorph
