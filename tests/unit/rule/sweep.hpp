#pragma once
#include <monomorph/core/type_name.hpp>
#include <monomorph/run.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include "support/catch.hpp"

/// Breaks rules about values by changing the fields of specs, as MONOMORPH_SPEC lists them, and policies: alone, and in
/// pairs. (Rules about what members of a recipe are, about blocks and about plans: gate_sweep_test.cpp.) Each rule that
/// is broken is one error (tests/compile_fail); here is told which ones are.
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

/// Field `index` of a spec, counted through the specs in it, as value `i` of those above.
template <class Spec> constexpr void change_field(Spec& spec, int& index, int i) {
  for_each_field(spec, [&](const char*, auto& field) {
    if constexpr (DescribedSpec<std::remove_reference_t<decltype(field)>>)
      change_field(field, index, i);
    else if (index-- == 0)
      change(field, i);
  });
}
template <class Spec> constexpr Spec changed(Spec spec, int index, int i) {
  change_field(spec, index, i);
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

/// The names of the rules that a recipe breaks, sorted.
struct Broken {
  int n = 0;
  std::array<std::string_view, 12> names{};
  constexpr void add(std::string_view rule) {
    names[n++] = rule;
    for (int i = n - 1; i > 0 && names[i] < names[i - 1]; --i) std::swap(names[i], names[i - 1]);
  }
  constexpr bool has(std::string_view rule) const {
    return std::find(names.begin(), names.begin() + n, rule) != names.begin() + n;
  }
  friend constexpr bool operator==(const Broken&, const Broken&) = default;
};
/// Without what it compares; but what is asked of each member of a recipe is a rule for each of them.
template <class Rule>
inline constexpr std::string_view name_of_rule = [] {
  constexpr std::string_view whole = type_name<Rule>(), name = whole.substr(0, whole.find('<'));
  const bool of_member = name.ends_with("::AxisFits") || name.ends_with("::ValueFits");
  return of_member ? whole.substr(0, whole.find(',')) : name;
}();
template <class Rule> constexpr void add_if_broken(Broken& broken, std::type_identity<Rule>) {
  if constexpr (!Rule::holds) broken.add(name_of_rule<Rule>);
}
/// A list of rules may be one of another.
template <class... Rules> constexpr void add_if_broken(Broken& broken, std::type_identity<RuleList<Rules...>>) {
  (add_if_broken(broken, std::type_identity<Rules>{}), ...);
}
template <class... Rules> constexpr Broken broken_of(RuleList<Rules...>) {
  Broken broken;
  (add_if_broken(broken, std::type_identity<Rules>{}), ...);
  return broken;
}

inline std::string text(const Broken& broken) {
  std::string text;
  for (int i = 0; i < broken.n; ++i) text += (i ? ", " : "") + std::string(broken.names[i]);
  return text.empty() ? "nothing" : text;
}

/// What is changed, as types: `Base`; `Change<i>` for i below `n_changes`, whose `in<X>` is X with that change; whether
/// a change `is_paired` with all others; and the list of `rules<X>()`.
template <class Subject> struct Sweep {
  static constexpr int n_changes = Subject::n_changes;
  template <int i, class X = typename Subject::Base>
  using Changed = typename Subject::template Change<i>::template in<X>;
  template <class X> static constexpr Broken broken = broken_of(Subject::template rules<X>());

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

  /// Of two changes, one may undo the other or make a rule hold that it joins in, but they bring no rule of a third
  /// thing but `joins_both`, and none is told twice.   @param least_both share of the pairs of which both are told: the
  /// others change the same thing twice, or one what the other reads, or break rules of two stages
  void check_pairs(std::string_view joins_both = {}, double least_both = 0.9) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (check_with<i>(joins_both, std::make_integer_sequence<int, i>{}), ...);
    }
    (std::make_integer_sequence<int, selected.n>{});
    CHECK(n_both > n_pairs * least_both);
  }

  int n_pairs = 0, n_both = 0;

 private:
  template <int first, int second> void check_pair(std::string_view joins_both) {
    constexpr int a = selected.changes[first], b = selected.changes[second];
    if constexpr (Subject::is_paired(a) || Subject::is_paired(b)) {
      constexpr Broken pair = broken<Changed<a, Changed<b>>>;
      Broken both;
      both.add(alone[a].names[0]);
      both.add(alone[b].names[0]);
      ++n_pairs;
      n_both += pair == both;
      INFO(text(both) << " alone, together " << text(pair));
      CHECK(pair.n >= 1);
      CHECK(pair.n <= 2);
      for (int i = 0; i < pair.n; ++i) {
        CHECK((both.has(pair.names[i]) || pair.names[i] == joins_both));
        CHECK((i == 0 || pair.names[i] != pair.names[i - 1]));
      }
    }
  }
  template <int first, int... seconds>
  void check_with([[maybe_unused]] std::string_view joins_both, std::integer_sequence<int, seconds...>) {
    (check_pair<first, seconds>(joins_both), ...);
  }
};

/// A recipe with another policy.
template <class P> struct ShardedBy {
  template <class R> struct in : R { using sharding = P; };
};
template <class P> struct In {
  template <class R> struct in : R { using precision = P; };
};
template <class P> struct CheckpointedBy {
  template <class R> struct in : R { using checkpointing = P; };
};
template <class P> struct OptimizedBy {
  template <class R> struct in : R { using optimizer = P; };
};
template <class P> struct FinetunedBy {
  template <class R> struct in : R { using finetuning = P; };
};
template <class P> struct Pursuing {
  template <class R> struct in : R { using objective = P; };
};
template <class L> struct Of {
  template <class R> struct in : R { using layers = L; };
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
  template <class R> static consteval auto rules() { return rule::value_rules<R>(); }
};

}  // namespace monomorph::testing
