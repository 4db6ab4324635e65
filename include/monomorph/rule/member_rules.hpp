#pragma once
#include <concepts>
#include <monomorph/block/stack.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/attention_policy.hpp>
#include <monomorph/policy/objective_policy.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/mistaken_names.hpp>
#include <monomorph/rule/near_miss_names.hpp>
#include <type_traits>

/// Rules about which members a recipe has. A class that inherits a name from two bases cannot say which it means, so a
/// probe that has both R and a set of names finds out whether R has one of them, be it a type, a value or a function,
/// its own or inherited. That is one look-up a name, and nothing else of C++20 is as cheap.
namespace monomorph::rule {

namespace detail {
#define MONOMORPH_ENUMERATOR(name) name,
struct OptionalNames {
  enum { mesh, layers, objective, attention, expect, budget };
};
struct RefusedNames {
  enum { MONOMORPH_NEAR_MISSES(MONOMORPH_ENUMERATOR) MONOMORPH_MISTAKEN_NAMES(MONOMORPH_ENUMERATOR) };
};
#undef MONOMORPH_ENUMERATOR
template <class R> struct OptionalProbe : R, OptionalNames {};
template <class R> struct RefusedProbe : R, RefusedNames {};

#define MONOMORPH_UNAMBIGUOUS(name) RefusedProbe<R>::name;
template <class R> concept HasNoRefusedName = requires {
  MONOMORPH_NEAR_MISSES(MONOMORPH_UNAMBIGUOUS)
  MONOMORPH_MISTAKEN_NAMES(MONOMORPH_UNAMBIGUOUS)
};
#undef MONOMORPH_UNAMBIGUOUS

template <class T> inline constexpr bool is_stack = false;
template <class... Runs> inline constexpr bool is_stack<Stack<Runs...>> = true;
template <auto value> using constant = void;  // well-formed if value is known to the compiler

template <class R> concept NamesMesh = !requires { OptionalProbe<R>::mesh; };
template <class R> concept NamesExpect = !requires { OptionalProbe<R>::expect; };
template <class R> concept NamesBudget = !requires { OptionalProbe<R>::budget; };
template <class R> concept NamesLayers = !requires { OptionalProbe<R>::layers; };
template <class R> concept NamesObjective = !requires { OptionalProbe<R>::objective; };
template <class R> concept NamesAttention = !requires { OptionalProbe<R>::attention; };
template <class R> concept MeshFits = requires {
  requires std::same_as<decltype(&R::mesh), const MeshSpec*>;
  typename constant<R::mesh.tp>;
};
template <class R> concept ExpectFits = requires {
  requires std::same_as<decltype(&R::expect), const Expect*>;
  typename constant<R::expect.params.value>;
};
template <class R> concept BudgetFits = requires {
  requires std::same_as<decltype(&R::budget), const Budget*>;
  typename constant<R::budget.ranks.value>;
};
template <class R> concept LayersFit = requires {
  typename R::layers;
  requires is_stack<typename R::layers>;
};
template <class R> concept ObjectiveFits = requires {
  typename R::objective;
  requires ObjectivePolicy<typename R::objective>;
};
template <class R> concept AttentionFits = requires {
  typename R::attention;
  requires AttentionPolicy<typename R::attention>;
};
}  // namespace detail

#define MONOMORPH_REFUSE(wrong, right)                                                                        \
  static_assert(                                                                                              \
      requires { detail::RefusedProbe<R>::wrong; },                                                           \
      "[RECIPE-01] `" #wrong "` must not be a member of a recipe, where nothing reads it: rename it `" #right \
      "`, or more unlike that (docs/rules.md#recipe-01)");
#define MONOMORPH_REFUSE_MODEL(wrong) MONOMORPH_REFUSE(wrong, model)
#define MONOMORPH_REFUSE_SHARDING(wrong) MONOMORPH_REFUSE(wrong, sharding)
#define MONOMORPH_REFUSE_PRECISION(wrong) MONOMORPH_REFUSE(wrong, precision)
#define MONOMORPH_REFUSE_CHECKPOINTING(wrong) MONOMORPH_REFUSE(wrong, checkpointing)
#define MONOMORPH_REFUSE_OPTIMIZER(wrong) MONOMORPH_REFUSE(wrong, optimizer)
#define MONOMORPH_REFUSE_OBJECTIVE(wrong) MONOMORPH_REFUSE(wrong, objective)
#define MONOMORPH_REFUSE_ATTENTION(wrong) MONOMORPH_REFUSE(wrong, attention)
#define MONOMORPH_REFUSE_MESH(wrong) MONOMORPH_REFUSE(wrong, mesh)
#define MONOMORPH_REFUSE_LAYERS(wrong) MONOMORPH_REFUSE(wrong, layers)
#define MONOMORPH_REFUSE_BUDGET(wrong) MONOMORPH_REFUSE(wrong, budget)
#define MONOMORPH_REFUSE_EXPECT(wrong) MONOMORPH_REFUSE(wrong, expect)

template <class R> struct NamesSpeltRight {
  static constexpr bool holds = detail::HasNoRefusedName<R>;
  static consteval void explain() {
    MONOMORPH_NEAR_MISSES_MODEL(MONOMORPH_REFUSE_MODEL)
    MONOMORPH_MISTAKEN_NAMES_MODEL(MONOMORPH_REFUSE_MODEL)
    MONOMORPH_NEAR_MISSES_SHARDING(MONOMORPH_REFUSE_SHARDING)
    MONOMORPH_MISTAKEN_NAMES_SHARDING(MONOMORPH_REFUSE_SHARDING)
    MONOMORPH_NEAR_MISSES_PRECISION(MONOMORPH_REFUSE_PRECISION)
    MONOMORPH_MISTAKEN_NAMES_PRECISION(MONOMORPH_REFUSE_PRECISION)
    MONOMORPH_NEAR_MISSES_CHECKPOINTING(MONOMORPH_REFUSE_CHECKPOINTING)
    MONOMORPH_MISTAKEN_NAMES_CHECKPOINTING(MONOMORPH_REFUSE_CHECKPOINTING)
    MONOMORPH_NEAR_MISSES_OPTIMIZER(MONOMORPH_REFUSE_OPTIMIZER)
    MONOMORPH_MISTAKEN_NAMES_OPTIMIZER(MONOMORPH_REFUSE_OPTIMIZER)
    MONOMORPH_NEAR_MISSES_OBJECTIVE(MONOMORPH_REFUSE_OBJECTIVE)
    MONOMORPH_MISTAKEN_NAMES_OBJECTIVE(MONOMORPH_REFUSE_OBJECTIVE)
    MONOMORPH_NEAR_MISSES_ATTENTION(MONOMORPH_REFUSE_ATTENTION)
    MONOMORPH_MISTAKEN_NAMES_ATTENTION(MONOMORPH_REFUSE_ATTENTION)
    MONOMORPH_NEAR_MISSES_MESH(MONOMORPH_REFUSE_MESH)
    MONOMORPH_MISTAKEN_NAMES_MESH(MONOMORPH_REFUSE_MESH)
    MONOMORPH_NEAR_MISSES_LAYERS(MONOMORPH_REFUSE_LAYERS)
    MONOMORPH_MISTAKEN_NAMES_LAYERS(MONOMORPH_REFUSE_LAYERS)
    MONOMORPH_NEAR_MISSES_BUDGET(MONOMORPH_REFUSE_BUDGET)
    MONOMORPH_MISTAKEN_NAMES_BUDGET(MONOMORPH_REFUSE_BUDGET)
    MONOMORPH_NEAR_MISSES_EXPECT(MONOMORPH_REFUSE_EXPECT)
    MONOMORPH_MISTAKEN_NAMES_EXPECT(MONOMORPH_REFUSE_EXPECT)
  }
};
#undef MONOMORPH_REFUSE_MODEL
#undef MONOMORPH_REFUSE_SHARDING
#undef MONOMORPH_REFUSE_PRECISION
#undef MONOMORPH_REFUSE_CHECKPOINTING
#undef MONOMORPH_REFUSE_OPTIMIZER
#undef MONOMORPH_REFUSE_OBJECTIVE
#undef MONOMORPH_REFUSE_ATTENTION
#undef MONOMORPH_REFUSE_MESH
#undef MONOMORPH_REFUSE_LAYERS
#undef MONOMORPH_REFUSE_BUDGET
#undef MONOMORPH_REFUSE_EXPECT
#undef MONOMORPH_REFUSE

/// An optional member that is there is of the right kind, or whoever looks for it would not see it.
template <class R> struct OptionalMembersFit {
  static constexpr bool mesh = !detail::NamesMesh<R> || detail::MeshFits<R>;
  static constexpr bool expect = !detail::NamesExpect<R> || detail::ExpectFits<R>;
  static constexpr bool budget = !detail::NamesBudget<R> || detail::BudgetFits<R>;
  static constexpr bool layers = !detail::NamesLayers<R> || detail::LayersFit<R>;
  static constexpr bool objective = !detail::NamesObjective<R> || detail::ObjectiveFits<R>;
  static constexpr bool attention = !detail::NamesAttention<R> || detail::AttentionFits<R>;
  static constexpr bool holds = mesh && expect && budget && layers && objective && attention;
  static consteval void explain() {
    static_assert(mesh,
                  "[RECIPE-02] mesh must be `static constexpr monomorph::MeshSpec mesh{...};`; change mesh "
                  "(docs/rules.md#recipe-02)");
    static_assert(expect,
                  "[RECIPE-02] expect must be `static constexpr monomorph::Expect expect{...};`; change expect "
                  "(docs/rules.md#recipe-02)");
    static_assert(budget,
                  "[RECIPE-02] budget must be `static constexpr monomorph::Budget budget{...};`; change budget "
                  "(docs/rules.md#recipe-02)");
    static_assert(layers,
                  "[RECIPE-02] layers must be `using layers = monomorph::Stack<monomorph::Run<...>, ...>;`; change "
                  "layers (docs/rules.md#recipe-02)");
    static_assert(objective,
                  "[RECIPE-02] objective must be `using objective = ...;`, a type that models ObjectivePolicy; "
                  "change objective (docs/rules.md#recipe-02)");
    static_assert(attention,
                  "[RECIPE-02] attention must be `using attention = ...;`, a type that models AttentionPolicy; "
                  "change attention (docs/rules.md#recipe-02)");
  }
};

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
                  "[RECIPE-04] the lengths of the runs in layers must add up to n_layers; change layers or "
                  "ModelSpec::n_layers (docs/rules.md#recipe-04)");
  }
};

template <std::int64_t n_layers, class... Runs> consteval auto rules_of_runs(Stack<Runs...>*) {
  return RuleList<RunLengthsPositive<Runs::length...>, LayersAddUp<n_layers, Runs::length...>>{};
}
template <class R> consteval auto layer_rules() {
  if constexpr (requires { typename R::layers; })
    return rules_of_runs<R::model.n_layers.value>(static_cast<typename R::layers*>(nullptr));
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
