#pragma once
#include <concepts>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/policy/attention_policy.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/device_policy.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/policy/objective_policy.hpp>
#include <monomorph/policy/observer_policy.hpp>
#include <monomorph/policy/optimizer_policy.hpp>
#include <monomorph/policy/precision_policy.hpp>
#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

/// Rules about the members that a recipe has. cmake/check_members.cmake refuses any member besides, as nothing would
/// read it.
namespace monomorph::rule {

template <class R> struct RecipeIsStruct {
  static constexpr bool holds = std::is_class_v<R> && !std::is_final_v<R>;
  static consteval void explain() {
    static_assert(holds,
                  "[RECIPE-08] a recipe must be a struct that variants can derive from; leave out `final` "
                  "(docs/rules.md#recipe-08)");
  }
};

template <class T> inline constexpr bool is_stack = false;
template <class... Runs> inline constexpr bool is_stack<Stack<Runs...>> = true;

/// The layers are not a policy, but are looked up in the same way.
struct LayersAxis {
  MONOMORPH_OPTIONAL_AXIS(layers, "monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 12>>")
  template <class L> struct Parts {
    static constexpr bool all_hold = is_stack<L>;
    static consteval void explain() {
      static_assert(all_hold,
                    "[RECIPE-02] layers must be `using layers = monomorph::Stack<monomorph::Run<...>, ...>;`; change "
                    "layers (docs/rules.md#recipe-02)");
    }
  };
};

template <class... Axes> struct AxisList {
  template <class P> static constexpr bool any_fits = (Fits<Axes, P> || ...);
};
using RecipeAxes = AxisList<ShardingAxis, PrecisionAxis, CheckpointingAxis, OptimizerAxis, ObjectiveAxis, AttentionAxis,
                            FinetuningAxis, ScheduleAxis, ObserverAxis, DeviceAxis, LayersAxis>;

/// What is wrong with a type on an axis. It is asked of the type, so that it is found out once for all recipes that
/// have it.
template <class Axis, class P> struct TypeOnAxis {
  static constexpr bool fits = Fits<Axis, P>;
  static constexpr Mistake mistake = detail::is_final<P>                ? Mistake::final_type
                                     : !fits && RecipeAxes::any_fits<P> ? Mistake::other_axis
                                                                        : Mistake::none;
};
/// And with a recipe's member, which may be no type. A closure that asked would be three functions for each recipe.
template <class Axis, class R, bool is_type = Axis::template is_type<R>> struct MemberOnAxis {
  static constexpr bool fits = false;
  static constexpr Mistake mistake = Mistake::not_a_type;
};
template <class Axis, class R>
struct MemberOnAxis<Axis, R, true> : TypeOnAxis<Axis, typename Axis::template Get<R>::type> {};

/// The member of an axis is there unless it may be left out, is a type, and has the parts that the axis asks for.
template <class Axis, class R> struct AxisFits {
  static constexpr bool named = Axis::template named<R>;
  static constexpr Mistake mistake = named            ? MemberOnAxis<Axis, R>::mistake
                                     : Axis::required ? Mistake::missing
                                                      : Mistake::none;
  static constexpr bool holds = mistake == Mistake::none && (!named || MemberOnAxis<Axis, R>::fits);
  static consteval void explain() {
    Axis::template explain<R, mistake>();
    if constexpr (mistake == Mistake::none && !holds)
      Axis::template Parts<typename Axis::template Get<R>::type>::explain();
  }
};

/// The member `model`, `mesh`, `expect` or `budget` is a value of its type that the compiler knows.
#define MONOMORPH_VALUE_MEMBER(member, type)                                                                        \
  MONOMORPH_MEMBER(member)                                                                                          \
  template <class R> static constexpr bool fits = requires {                                                        \
    requires std::same_as<decltype(&R::member), const type*>;                                                       \
    typename Constant<(type(R::member), true)>;                                                                     \
  };                                                                                                                \
  template <class R, bool missing, bool wrong> static consteval void explain() {                                    \
    static_assert(!missing, "[RECIPE-05] a recipe must have " #member "; write `static constexpr monomorph::" #type \
                            " " #member "{...};` (docs/rules.md#recipe-05)");                                       \
    static_assert(!wrong, "[RECIPE-02] " #member " must be `static constexpr monomorph::" #type " " #member         \
                          "{...};`; change " #member " (docs/rules.md#recipe-02)");                                 \
  }
/// The model is of a type that says what kind of model it is.
struct ModelMember {
  MONOMORPH_MEMBER(model)
  template <class R> static constexpr bool has_layers = requires {
    requires is_stack<typename ModelKind<SpecOf<R>>::template layers<Stack<>>>;
  };
  template <class R> static constexpr bool is_known = requires {
    requires std::same_as < decltype(&R::model), const SpecOf<R>
    * > ;
    requires detail::HasModelKind<SpecOf<R>>;
    typename Constant<(SpecOf<R>(R::model), true)>;
  };
  template <class R>
  static constexpr bool fits = [] {
    if constexpr (is_known<R>) return ModelKindParts<SpecOf<R>>::all_hold && has_layers<R>;
    return false;
  }();
  template <class R, bool missing, bool wrong> static consteval void explain() {
    static_assert(
        !missing,
        "[RECIPE-05] a recipe must have model; write `static constexpr monomorph::DecoderSpec model{...};`, or "
        "a spec of another kind of model (docs/rules.md#recipe-05)");
    static_assert(
        !wrong || is_known<R>,
        "[RECIPE-02] model must be `static constexpr monomorph::DecoderSpec model{...};`, or a spec of "
        "another kind, of which ModelKind is specialised, such as EncoderSpec; change model (docs/rules.md#recipe-02)");
    if constexpr (wrong && is_known<R>) {
      ModelKindParts<SpecOf<R>>::explain();
      static_assert(
          has_layers<R>,
          "[KIND-01] a kind of model must have `template <class Blocks> using layers = monomorph::Joined<...>`:"
          " a Stack of the blocks and what stands before and behind them (docs/rules.md#kind-01)");
    }
  }
  static constexpr bool required = true;
};
struct MeshMember {
  MONOMORPH_VALUE_MEMBER(mesh, MeshSpec)
  static constexpr bool required = false;
};
struct ExpectMember {
  MONOMORPH_VALUE_MEMBER(expect, Expect)
  static constexpr bool required = false;
};
struct BudgetMember {
  MONOMORPH_VALUE_MEMBER(budget, Budget)
  static constexpr bool required = false;
};
template <class Member, class R> struct ValueFits {
  static constexpr bool named = Member::template named<R>, fits = Member::template fits<R>;
  static constexpr bool holds = named ? fits : !Member::required;
  static consteval void explain() { Member::template explain<R, !named && Member::required, named && !fits>(); }
};

template <class R>
using MembersFit = RuleList<ValueFits<ModelMember, R>, AxisFits<ShardingAxis, R>, AxisFits<PrecisionAxis, R>,
                            AxisFits<CheckpointingAxis, R>, AxisFits<OptimizerAxis, R>, AxisFits<ObjectiveAxis, R>,
                            AxisFits<AttentionAxis, R>, AxisFits<FinetuningAxis, R>, AxisFits<ScheduleAxis, R>,
                            AxisFits<ObserverAxis, R>, AxisFits<DeviceAxis, R>, AxisFits<LayersAxis, R>,
                            ValueFits<MeshMember, R>, ValueFits<ExpectMember, R>, ValueFits<BudgetMember, R>>;

/// A recipe that names its device is built for no other.
template <class R, class Device> struct NamedDeviceIsKept {
  static constexpr bool holds = std::is_same_v<device_of<R>, Device> || !requires { typename R::device; };
  static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-02] a recipe that names its device must be built for no other one; change DEVICES of "
                  "monomorph_add_recipe, or leave device out of the recipe (docs/rules.md#device-02)");
  }
};

template <class R> struct ModelOf { static constexpr const auto& spec = R::model; };
template <class R> struct MeshOf { static constexpr const auto& spec = mesh_of<R>; };
template <class R> struct ExpectOf { static constexpr const auto& spec = R::expect; };
template <class R> struct BudgetOf { static constexpr const auto& spec = R::budget; };

/// The fields of a recipe's specs are given as they must be.
template <class... Holders> using FieldsOf = RuleList<FieldsFit<Holders>...>;
template <class R> consteval auto field_rules() {
  if constexpr (HasExpect<R> && HasBudget<R>)
    return FieldsOf<ModelOf<R>, MeshOf<R>, ExpectOf<R>, BudgetOf<R>>{};
  else if constexpr (HasExpect<R>)
    return FieldsOf<ModelOf<R>, MeshOf<R>, ExpectOf<R>>{};
  else if constexpr (HasBudget<R>)
    return FieldsOf<ModelOf<R>, MeshOf<R>, BudgetOf<R>>{};
  else
    return FieldsOf<ModelOf<R>, MeshOf<R>>{};
}

template <int... lengths> struct RunLengthsPositive {
  static constexpr bool holds = sizeof...(lengths) > 0 && ((lengths > 0) && ...);
  static consteval void explain() {
    static_assert(holds,
                  "[RECIPE-03] layers must have at least one Run<Block, n>, and each n >= 1; change layers "
                  "(docs/rules.md#recipe-03)");
  }
};
template <std::int64_t n_layers, int... lengths> struct LayersAddUp {
  static constexpr bool holds =
      n_layers < 1 || !((lengths > 0) && ...) || (std::int64_t{lengths} + ... + 0) == n_layers;
  static consteval void explain() {
    static_assert(holds,
                  "[RECIPE-04] the lengths of the runs in layers must add up to n_layers; change layers or n_layers "
                  "(docs/rules.md#recipe-04)");
  }
};

/// Compares the types of the blocks of neighbouring runs.
template <class... Blocks> struct AdjacentRunsDiffer { static constexpr bool differ = true; };
template <class First, class Second, class... Blocks> struct AdjacentRunsDiffer<First, Second, Blocks...> {
  static constexpr bool differ = !std::is_same_v<First, Second> && AdjacentRunsDiffer<Second, Blocks...>::differ;
};
template <class... Blocks> struct RunsAreWhole {
  static constexpr bool holds = AdjacentRunsDiffer<Blocks...>::differ;
  static consteval void explain() {
    static_assert(holds,
                  "[RECIPE-10] adjacent runs of layers must be of different blocks, or checkpoints of the same model "
                  "would differ; change layers to one run of both lengths (docs/rules.md#recipe-10)");
  }
};

template <class R, class... Runs> consteval auto rules_of_runs(Stack<Runs...>*) {
  return RuleList<RunLengthsPositive<Runs::length...>, LayersAddUp<trunk_of<R>.n_layers.value, Runs::length...>,
                  RunsAreWhole<typename Runs::template block<R>...>>{};
}
template <class R> consteval auto layer_rules() {
  if constexpr (requires { typename R::layers; })
    return rules_of_runs<R>(static_cast<typename R::layers*>(nullptr));
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
