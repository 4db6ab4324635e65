#pragma once
#include <monomorph/core/type_name.hpp>
#include <monomorph/run.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include "broken_rules.hpp"
#include "support/catch.hpp"

/// Breaks rules by changes of a recipe, alone and in pairs: fields of specs, as MONOMORPH_SPEC lists them, and
/// policies. Each rule that is broken is one error (tests/compile_fail); here is told which ones are.
namespace monomorph::testing {

inline constexpr int n_values = 8;

template <class T> constexpr void change(T& field, int i) {
  using Value = decltype(field.value);
  if constexpr (std::is_same_v<Value, bool>)
    field = i == 0 ? !field.value : field.value;
  else if constexpr (std::is_enum_v<Value>)
    field = i < 2 ? Value(i) : field.value;
  else if constexpr (std::is_floating_point_v<Value>)
    field = std::array<double, n_values>{-1, 0, 1, 1.1, 1e-40, 1e300, 2, 20}[i];
  else
    field = static_cast<Value>(std::array<int, n_values>{-1, 0, 1, 3, 5, 48, 4096, 1 << 30}[i]);
}

/// Calls f with field `index` of a spec, counted through the specs in it.
template <class Spec> constexpr void visit_field(Spec& spec, int& index, const auto& f) {
  for_each_field(spec, [&](const char*, auto& field) {
    if constexpr (DescribedSpec<std::remove_reference_t<decltype(field)>>)
      visit_field(field, index, f);
    else if (index-- == 0)
      f(field);
  });
}
/// The spec with that field as value `i` of those above.
template <class Spec> constexpr Spec changed(Spec spec, int index, int i) {
  visit_field(spec, index, [i](auto& field) { change(field, i); });
  return spec;
}
template <class Spec> constexpr int n_fields(const Spec& spec) {
  int n = 0;
  for_each_field(spec, [&](const char*, const auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      n += n_fields(field);
    else
      ++n;
  });
  return n;
}

/// Two rules of which the first one has nothing to say where the second one is broken, too, and why.
struct Silent {
  std::string_view rule, beside, why;
};
/// A rule that two changes break together and neither alone, and why.
struct Joining {
  std::string_view rule, why;
};

/// What is changed, as types: `Base`; `Change<i>` for i below `n_changes`, whose `in<X>` is X with that change; whether
/// a change `is_paired` with all others; whether two `overlap`, as they change the same; the list of `rules<X>()`, and
/// in which `stage<X>()` it is, if there are several.
template <class Subject> struct Sweep {
  static constexpr int n_changes = Subject::n_changes;
  template <int i, class X = typename Subject::Base>
  using Changed = typename Subject::template Change<i>::template in<X>;
  template <class X> static constexpr Broken broken = broken_of<decltype(Subject::template rules<X>())>;

  template <int... i> static constexpr auto judge_alone(std::integer_sequence<int, i...>) {
    return std::array<Broken, n_changes>{broken<Changed<i>>...};
  }
  static constexpr auto alone = judge_alone(std::make_integer_sequence<int, n_changes>{});

  /// The first change that breaks a rule and no other, for each rule that has one.
  struct Selected {
    int n = 0;
    std::array<int, n_changes> changes{};
  };
  static constexpr Selected selected = [] {
    Selected found;
    for (int i = 0; i < n_changes; ++i) {
      bool is_new = alone[i].n == 1;
      for (int j = 0; j < found.n; ++j) is_new = is_new && alone[i].names[0] != alone[found.changes[j]].names[0];
      if (is_new) found.changes[found.n++] = i;
    }
    return found;
  }();

  /// Tells which rules some change breaks. Most are broken alone; of the mesh, several always are.
  static int tell() {
    for (const Broken& broken : alone)
      for (int i = 0; i < broken.n; ++i) broken_rules().push_back({broken.names[i], broken.ids[i]});
    return 0;
  }

  /// Two changes break the rules of both, each once, and no other. Of two that change the same, the second one undoes
  /// the first. All rules of one stage are paired, and each with the first one of the next stage: then the earlier
  /// stage alone is told.
  void check_pairs(std::initializer_list<Silent> silent = {}, std::initializer_list<Joining> joining = {}) {
    silent_ = silent;
    joining_ = joining;
    [&]<int... i>(std::integer_sequence<int, i...>) { (check_with<i>(std::make_integer_sequence<int, i>{}), ...); }
    (std::make_integer_sequence<int, selected.n>{});
    for (const Silent& pair : silent) {
      INFO(pair.rule << " beside " << pair.beside << ": " << pair.why);
      CHECK(std::find(met_.begin(), met_.end(), &pair) != met_.end());  // or nothing is to be explained
    }
    for (const Joining& rule : joining) {
      INFO(rule.rule << ": " << rule.why);
      CHECK(std::find(joined_.begin(), joined_.end(), &rule) != joined_.end());
    }
  }

  int n_pairs = 0, n_of_one_stage = 0;

 private:
  template <int... i> static constexpr auto stages_of(std::integer_sequence<int, i...>) {
    return std::array<int, sizeof...(i)>{Subject::template stage<Changed<selected.changes[i]>>()...};
  }
  static constexpr auto stages = stages_of(std::make_integer_sequence<int, selected.n>{});

  /// Whether `second` is the first rule of the stage behind that of `first`.
  static constexpr bool is_before(int first, int second) {
    int next = 0, of_next = -1;
    for (int i = 0; i < selected.n; ++i)
      if (stages[i] > stages[first] && (of_next < 0 || stages[i] < next)) next = stages[i], of_next = i;
    return second == of_next;
  }

  void check_pair(int first, int second, const Broken& pair) {
    const int a = selected.changes[first], b = selected.changes[second];
    const std::string_view rule_a = alone[a].names[0], rule_b = alone[b].names[0];
    const bool overlap = Subject::overlap(a, b);
    Broken expected;
    if (overlap || (stages[first] <= stages[second] && !is_silent(rule_a, rule_b, pair))) expected.add(rule_a, {});
    if (!overlap && stages[second] <= stages[first] && !is_silent(rule_b, rule_a, pair)) expected.add(rule_b, {});
    for (const Joining& joining : joining_)
      if (pair.has(joining.rule) && !expected.has(joining.rule)) {
        expected.add(joining.rule, {});
        joined_.push_back(&joining);
      }
    ++n_pairs;
    n_of_one_stage += stages[first] == stages[second];
    INFO(rule_a << " and " << rule_b << " together: " << text(pair));
    CHECK(pair == expected);
  }
  /// Notes that it was, so that nothing stays in the list that is not needed.
  bool is_silent(std::string_view rule, std::string_view beside, const Broken& pair) {
    if (pair.has(rule)) return false;
    for (const Silent& listed : silent_)
      if (rule.ends_with(listed.rule) && beside.ends_with(listed.beside)) return met_.push_back(&listed), true;
    return false;
  }
  template <int first, int... second> void check_with(std::integer_sequence<int, second...>) {
    (check_if_paired<first, second>(), ...);
  }
  template <int first, int second> void check_if_paired() {
    constexpr int a = selected.changes[first], b = selected.changes[second];
    if constexpr (Subject::is_paired(a, b) &&
                  (stages[first] == stages[second] || is_before(first, second) || is_before(second, first)))
      check_pair(first, second, broken<Changed<a, Changed<b>>>);
  }

  std::initializer_list<Silent> silent_;
  std::initializer_list<Joining> joining_;
  std::vector<const Silent*> met_;
  std::vector<const Joining*> joined_;
};

/// What of a recipe a policy or a value is. Several may be changed at once.
enum Member : unsigned {
  model_ = 1U << 0,
  mesh_ = 1U << 1,
  expect_ = 1U << 2,
  budget_ = 1U << 3,
  layers_ = 1U << 4,
  sharding_ = 1U << 5,
  precision_ = 1U << 6,
  checkpointing_ = 1U << 7,
  optimizer_ = 1U << 8,
  objective_ = 1U << 9,
  attention_ = 1U << 10,
  finetuning_ = 1U << 11,
  schedule_ = 1U << 12,
  observer_ = 1U << 13,
  device_ = 1U << 14,
};

/// A recipe with another policy.
#define MONOMORPH_CHANGE_POLICY(Name, member)               \
  template <class P> struct Name {                          \
    static constexpr unsigned members = member##_;          \
    template <class R> struct in : R { using member = P; }; \
  };
MONOMORPH_CHANGE_POLICY(ShardedBy, sharding)
MONOMORPH_CHANGE_POLICY(In, precision)
MONOMORPH_CHANGE_POLICY(CheckpointedBy, checkpointing)
MONOMORPH_CHANGE_POLICY(OptimizedBy, optimizer)
MONOMORPH_CHANGE_POLICY(FinetunedBy, finetuning)
MONOMORPH_CHANGE_POLICY(Pursuing, objective)
MONOMORPH_CHANGE_POLICY(Attending, attention)
MONOMORPH_CHANGE_POLICY(ScheduledBy, schedule)
MONOMORPH_CHANGE_POLICY(ObservedBy, observer)
MONOMORPH_CHANGE_POLICY(Computing, device)
MONOMORPH_CHANGE_POLICY(Of, layers)
#undef MONOMORPH_CHANGE_POLICY

/// Two changes as one, for rules that compare what both change.
template <class First, class Second> struct Both {
  static constexpr unsigned members = First::members | Second::members;
  template <class R> struct in : Second::template in<typename First::template in<R>> {};
};

/// The changes of a recipe: each field of its model, its mesh and its budget, and the policies of a tuple.
template <class BaseRecipe, class Policies> struct RecipeChanges {
  using Base = BaseRecipe;
  using Model = std::remove_const_t<decltype(Base::model)>;
  template <int field, int i> struct ModelField {
    template <class R> struct in : R { static constexpr Model model = changed(R::model, field, i); };
  };
  template <int field, int i> struct MeshField {
    template <class R> struct in : R { static constexpr MeshSpec mesh = changed(R::mesh, field, i); };
  };
  template <int field, int i> struct BudgetField {
    template <class R> struct in : R { static constexpr Budget budget = changed(R::budget, field, i); };
  };
  static constexpr int model_changes = n_fields(Base::model) * n_values, mesh_changes = n_fields(Base::mesh) * n_values,
                       budget_changes = n_fields(Base::budget) * n_values,
                       spec_changes = model_changes + mesh_changes + budget_changes,
                       n_changes = spec_changes + static_cast<int>(std::tuple_size_v<Policies>);
  template <int i> static constexpr auto change_at() {
    constexpr int mesh = i - model_changes, budget = mesh - mesh_changes, policy = budget - budget_changes;
    if constexpr (i < model_changes)
      return ModelField<i / n_values, i % n_values>{};
    else if constexpr (mesh < mesh_changes)
      return MeshField<mesh / n_values, mesh % n_values>{};
    else if constexpr (budget < budget_changes)
      return BudgetField<budget / n_values, budget % n_values>{};
    else
      return std::tuple_element_t<policy, Policies>{};
  }
  template <int i> using Change = decltype(change_at<i>());
  static constexpr bool overlap(int a, int b) {
    if (a < spec_changes && b < spec_changes) return a / n_values == b / n_values;
    return a >= spec_changes && b >= spec_changes &&
           members_of_policy[a - spec_changes] == members_of_policy[b - spec_changes];
  }
  template <class R> static consteval auto rules() { return rule::value_rules<R>(); }
  template <class R> static consteval int stage() { return 1; }

 private:
  static constexpr auto members_of_policy = []<class... P>(std::tuple<P...>*) {
    return std::array<unsigned, sizeof...(P)>{P::members...};
  }(static_cast<Policies*>(nullptr));
};

}  // namespace monomorph::testing
