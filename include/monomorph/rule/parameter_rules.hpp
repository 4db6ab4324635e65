#pragma once
#include <array>
#include <monomorph/core/extremes.hpp>
#include <monomorph/core/fixed_text.hpp>
#include <monomorph/plan/parameter_groups.hpp>

/// What rules say of parameters that a recipe selects by name.
namespace monomorph::rule {

/// Calls f(name, class) for every parameter, once of blocks that have equal ones.
template <class R> constexpr void for_each_kind_of_parameter(auto&& f) {
  int unit = 0;
  const auto visit = [&]<class Run>(Run run) {
    if (!shares_first_unit<typename Run::template block<R>>)
      for (const TensorInfo& tensor : plan::unit_layout<R>(unit))
        f(plan::parameter_name<R>(unit, tensor), tensor.parameter_class);
    unit += run.length;
  };
  [&]<class... Runs>(Stack<Runs...>) { (visit(Runs{}), ...); }(LayersOf<R>{});
}
/// Calls f(unit, tensor, name) for every parameter.
template <class R> constexpr void for_each_parameter(auto&& f) {
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    const ParameterLayout layout = plan::unit_layout<R>(unit);
    for (const TensorInfo& tensor : layout) f(unit, tensor, plan::parameter_name<R>(unit, tensor));
  }
}

template <class R> constexpr bool selects_some(const ParameterSelector& selector) {
  bool some = false;
  for_each_parameter<R>([&](int, const TensorInfo& tensor, const ParameterName& name) {
    some = some || selector.contains(name.view(), tensor.parameter_class);
  });
  return some;
}

/// How many characters must be put in, taken out or exchanged until a name has the form of a pattern.
constexpr int distance_from(std::string_view pattern, std::string_view name) {
  std::array<int, 130> of_prefix{};  // of the pattern so far, from each prefix of the name
  for (std::size_t n = 0; n <= name.size(); ++n) of_prefix[n] = static_cast<int>(n);
  for (const char character : pattern) {
    const bool any_number = character == '*';
    int diagonal = of_prefix[0];
    of_prefix[0] += any_number ? 0 : 1;
    for (std::size_t n = 1; n <= name.size(); ++n) {
      const int above = of_prefix[n];
      const bool equal = character == '?' || character == name[n - 1];
      const int without = any_number ? above : above + 1, with_one = of_prefix[n - 1] + (any_number ? 0 : 1),
                both = diagonal + (any_number || equal ? 0 : 1);
      of_prefix[n] = smaller_of(smaller_of(without, with_one), both);
      diagonal = above;
    }
  }
  return of_prefix[name.size()];
}

/// The k-th nearest name to a pattern, counted from 0; of equally near ones the first.
template <class R> constexpr ParameterName nearest_name(std::string_view pattern, int k) {
  constexpr int n_nearest = 3;
  std::array<ParameterName, n_nearest> names{ParameterName{"", -1}, ParameterName{"", -1}, ParameterName{"", -1}};
  std::array<int, n_nearest> distances{1 << 20, 1 << 20, 1 << 20};
  for_each_kind_of_parameter<R>([&](const ParameterName& name, ParameterClass) {
    const int distance = distance_from(pattern, name.view());
    int place = n_nearest;
    while (place > 0 && distance < distances[place - 1]) --place;
    for (int i = n_nearest - 1; i > place; --i) names[i] = names[i - 1], distances[i] = distances[i - 1];
    if (place < n_nearest) names[place] = name, distances[place] = distance;
  });
  return names[k];
}

/// The nearest names, as template arguments of a rule that is broken.   @tparam Selected has the selector as `value`
template <class...> struct Nearest {};
template <class R, class Selected, int k> consteval auto spelled_nearest() {
  constexpr ParameterName name = nearest_name<R>(Selected::value.pattern, k);
  return std::type_identity<Spelled<FixedText<name.view().size()>(name.view())>>{};
}
template <class R, class Selected, int k>
using NearestName = typename decltype(spelled_nearest<R, Selected, k>())::type;
template <class R, class Selected>
using NearestNames = Nearest<NearestName<R, Selected, 0>, NearestName<R, Selected, 1>, NearestName<R, Selected, 2>>;
template <class Selected>
using SpelledPattern = Spelled<FixedText<Selected::value.pattern.size()>(Selected::value.pattern)>;

}  // namespace monomorph::rule
