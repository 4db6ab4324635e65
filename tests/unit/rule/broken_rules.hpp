#pragma once
#include <monomorph/core/type_name.hpp>
#include <monomorph/run.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Which rules of a list are broken.
namespace monomorph::testing {

/// Without what it compares; but what is asked of each member of a recipe is a rule for each of them, and so are the
/// fields of each spec. Of what a device lacks, the set of kernels tells.
template <class Rule>
inline constexpr std::string_view name_of_rule = [] {
  constexpr std::string_view whole = type_name<Rule>(), name = whole.substr(0, whole.find('<'));
  const bool is_of_one = name.ends_with("::AxisFits") || name.ends_with("::ValueFits") || name.ends_with("::FieldsFit");
  return is_of_one ? whole.substr(0, whole.find_first_of("<,", name.size() + 1)) : name;
}();
template <class Device, class Caller, class Set>
inline constexpr std::string_view name_of_rule<rule::DeviceHasKernels<Device, Caller, Set>> = type_name<Set>();

/// The id of the message, of a rule that has messages of several ids; empty otherwise.
template <class Rule> inline constexpr std::string_view id_of_rule{};
template <class Holder>
inline constexpr std::string_view id_of_rule<FieldsFit<Holder>> = [] {
  bool some_left_out = false;
  const auto look = [&](auto&& self, const auto& spec) -> void {
    for_each_field(spec, [&](const char*, const auto& field) {
      if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
        self(self, field);
      else
        some_left_out = some_left_out || monomorph::detail::is_left_out(field);
    });
  };
  look(look, Holder::spec);
  return some_left_out ? "SPEC-01" : "SPEC-02";
}();
template <class P> constexpr std::string_view id_of_objective() {
  using Parts = ObjectiveAxis::Parts<P>;
  if (!Parts::texts) return "OBJ-05";
  if (!Parts::sequences) return "OBJ-08";
  if (!Parts::planned) return "OBJ-06";
  if (!Parts::metrics) return "OBJ-07";
  return Parts::hparams && Parts::predicts && Parts::loss && Parts::prepare ? "OBJ-03" : "OBJ-02";
}
template <class Axis, class R>
inline constexpr std::string_view id_of_rule<rule::AxisFits<Axis, R>> = []() -> std::string_view {
  constexpr Mistake mistake = rule::AxisFits<Axis, R>::mistake;
  if (mistake == Mistake::missing) return "RECIPE-05";
  if (mistake == Mistake::not_a_type) return "RECIPE-06";
  if (mistake == Mistake::other_axis) return "RECIPE-07";
  if (mistake == Mistake::final_type) return "RECIPE-11";
  if constexpr (mistake == Mistake::none && std::is_same_v<Axis, ObjectiveAxis>)
    return id_of_objective<typename R::objective>();
  else
    return {};
}();
template <class ValueMember, class R>
inline constexpr std::string_view id_of_rule<rule::ValueFits<ValueMember, R>> = [] {
  if (!rule::ValueFits<ValueMember, R>::named) return "RECIPE-05";
  if constexpr (std::is_same_v<ValueMember, rule::ModelMember>)
    if (rule::ModelMember::is_known<R>) return "KIND-01";
  return "RECIPE-02";
}();
template <class Layer, class R>
inline constexpr std::string_view id_of_rule<rule::LayerMembersFit<Layer, R>> =
    rule::LayerMembersFit<Layer, R>::is_base ? "LAYER-17" : "RECIPE-11";

/// The names of the rules that a recipe breaks, sorted, and their ids where the names have several.
struct Broken {
  int n = 0;
  std::array<std::string_view, 16> names{}, ids{};
  constexpr void add(std::string_view rule, std::string_view id) {
    names[n] = rule;
    ids[n++] = id;
    for (int i = n - 1; i > 0 && names[i] < names[i - 1]; --i) {
      std::swap(names[i], names[i - 1]);
      std::swap(ids[i], ids[i - 1]);
    }
  }
  constexpr bool has(std::string_view rule) const {
    return std::find(names.begin(), names.begin() + n, rule) != names.begin() + n;
  }
  friend constexpr bool operator==(const Broken& a, const Broken& b) { return a.n == b.n && a.names == b.names; }
};

template <class... Lists> struct Together { using type = RuleList<>; };
template <class... A> struct Together<RuleList<A...>> { using type = RuleList<A...>; };
template <class... A, class... B, class... Lists>
struct Together<RuleList<A...>, RuleList<B...>, Lists...> : Together<RuleList<A..., B...>, Lists...> {};

/// The rules of a list that are broken, also those of lists in it, as a list. They are looked for in types: a function
/// over all rules of a recipe has a name of ten kilobytes, which g++ takes longer to make than to judge them all.
template <class Rule, bool holds = Rule::holds> struct BrokenIn { using type = RuleList<>; };
template <class Rule> struct BrokenIn<Rule, false> { using type = RuleList<Rule>; };
template <class... Rules> struct BrokenIn<RuleList<Rules...>, false> : Together<typename BrokenIn<Rules>::type...> {};

template <class... Rules> constexpr Broken told_of(RuleList<Rules...>) {
  Broken broken;
  (broken.add(name_of_rule<Rules>, id_of_rule<Rules>), ...);
  return broken;
}
template <class... Rules> RuleList<Rules...> as_list(const RuleList<Rules...>&);
/// Of a type that is a list of rules, or is derived from one.
template <class Rules>
inline constexpr Broken broken_of = told_of(typename BrokenIn<decltype(as_list(std::declval<Rules>()))>::type{});

inline std::string text(const Broken& broken) {
  std::string text;
  for (int i = 0; i < broken.n; ++i) text += (i ? ", " : "") + std::string(broken.names[i]);
  return text.empty() ? "nothing" : text;
}

/// What all sweeps tell that they break.
struct BrokenRule {
  std::string_view name, id;
};
inline std::vector<BrokenRule>& broken_rules() {
  static std::vector<BrokenRule> rules;
  return rules;
}

}  // namespace monomorph::testing
