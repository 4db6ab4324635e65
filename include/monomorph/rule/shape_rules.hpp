#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/head_rules.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/rule/rotary_rules.hpp>
#include <monomorph/spec/block_shape.hpp>
#include <type_traits>

/// Rules about blocks of a shape, or with rotary positions, of their own: those that hold for every model, and one
/// about what layers share.
namespace monomorph::rule {

template <Position position, std::int64_t head_dim_of_shape, std::int64_t head_dim> struct ShapeKeepsRotaryWidth {
  static constexpr bool holds = position != Position::rotary || head_dim_of_shape == head_dim;
  static consteval void explain() {
    static_assert(
        holds,
        "[LAYER-15] head_dim of a shape must be the model's where position is rotary, as all tables of angles have one "
        "width; change BlockShape::head_dim (docs/rules.md#layer-15)");
  }
};

template <class Tower> struct ShapeOf { static constexpr const auto& spec = Tower::shape; };
template <class Tower> struct RotaryOf { static constexpr const auto& spec = Tower::rotary; };

/// Of what a tower has of its own.
template <class Tower> consteval auto field_rules_of_tower() {
  constexpr bool shaped = requires { Tower::shape; }
  , rotated = requires { Tower::rotary; };
  if constexpr (shaped && rotated)
    return RuleList<FieldsFit<ShapeOf<Tower>>, FieldsFit<RotaryOf<Tower>>>{};
  else if constexpr (shaped)
    return RuleList<FieldsFit<ShapeOf<Tower>>>{};
  else if constexpr (rotated)
    return RuleList<FieldsFit<RotaryOf<Tower>>>{};
  else
    return RuleList<>{};
}

template <class R, class Tower> consteval auto rules_of_tower() {
  constexpr auto field_rules = field_rules_of_tower<Tower>();
  if constexpr (!std::is_same_v<decltype(field_rules), const RuleList<>>) {
    if constexpr (!decltype(field_rules)::all_hold)
      return field_rules_of_tower<Tower>();
    else
      return model_rules<Tower>() + attention_rules<Tower>() + head_rules<Tower>() + rotary_rules<Tower>() +
             RuleList<
                 ShapeKeepsRotaryWidth<trunk_of<R>.position, trunk_of<Tower>.head_width(), trunk_of<R>.head_width()>>{};
  } else {
    return RuleList<>{};
  }
}
template <class R, class Block> consteval auto rules_of_shape() {
  if constexpr (requires { typename Block::Tower; })
    return rules_of_tower<R, typename Block::Tower>();
  else
    return RuleList<>{};
}
template <class R, class... Runs> consteval auto rules_of_shapes(Stack<Runs...>) {
  return (RuleList<>{} + ... + rules_of_shape<R, typename Runs::template block<R>>());
}
/// These are judged when the values of the model itself are in order.
template <class R> consteval auto shape_rules() { return rules_of_shapes<R>(layers_of<R>); }

}  // namespace monomorph::rule
