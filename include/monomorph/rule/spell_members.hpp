#pragma once
#include <monomorph/rule/recipe_rules.hpp>

/// For cmake/check_members.cmake alone, which has the compiler look for every member that the policies, the layers and
/// the kind of model of a recipe leave out. Nothing of it compiles: what is read are the compiler's errors, as they
/// tell which member of a type has nearly the name that was not found.
namespace monomorph::rule {

template <class T, class... LookUps> void spell() { (LookUps::template spell<T>(nullptr), ...); }

template <class Axis, class... Policies> void spell_combined(CombinedPolicies<Policies...>) {
  (spell<Policies, LookUpRules, LookUpKernels, typename Axis::Look>(), ...);
}
/// A policy that does not fit its axis has the messages of its parts.
template <class Axis, class R> void spell_policy() {
  if constexpr (Axis::template named<R> && AxisFits<Axis, R>::holds) {
    using Policy = typename Axis::template Get<R>::type;
    spell<Policy, LookUpRules, LookUpKernels>();
    if constexpr (requires { typename Axis::Look; }) spell<Policy, typename Axis::Look>();
    if constexpr (requires { typename Policy::combined; }) spell_combined<Axis>(typename Policy::combined{});
  }
}
template <class Layer> void spell_layer() {
  spell<Layer, LookUpRules, LookUpKernels, LookUpDescription, LookUpLayer, LookUpDeclared>();
  if constexpr (requires { requires std::is_class_v<typename Layer::MlpPart>; })
    spell<typename Layer::MlpPart, LookUpRules, LookUpKernels, LookUpDescription, LookUpDeclared, LookUpPart>();
  if constexpr (requires { requires std::is_class_v<typename Layer::AttentionPart>; })
    spell<typename Layer::AttentionPart, LookUpRules, LookUpKernels, LookUpDescription, LookUpPart>();
}
template <class R, class... Runs> void spell_layers(Stack<Runs...>) {
  (spell_layer<typename Runs::template block<R>>(), ...);
}
template <class R> void spell_kind() {
  spell<ModelKind<SpecOf<R>>, LookUpRules, LookUpKind>();
  spell_layers<R>(LayersOf<R>{});
}

template <class R, class... Axes> void spell_policies(AxisList<Axes...>) { (spell_policy<Axes, R>(), ...); }
/// Layers are looked at when the values that they are made of are in order.
template <class R> void spell_members() {
  spell_policies<R>(RecipeAxes{});
  if constexpr (decltype(member_rules<R>())::all_hold)
    if constexpr (decltype(field_rules<R>())::all_hold)
      if constexpr (decltype(value_rules<R>() + shape_rules<R>())::all_hold) spell_kind<R>();
}

}  // namespace monomorph::rule
