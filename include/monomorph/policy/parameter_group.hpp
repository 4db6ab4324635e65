#pragma once
#include <array>
#include <concepts>
#include <monomorph/spec/parameter_selector.hpp>
#include <type_traits>

namespace monomorph {

/// Parameters whose learning rate and weight decay differ by factors from the optimiser's own. A recipe lists its
/// groups in `optim::Grouped`; a parameter is in the first one that contains it, or in none.
struct ParameterGroup {
  ParameterSelector parameters;
  double lr_multiplier = 1;            ///< of the learning rate, and so of decoupled weight decay, too
  double weight_decay_multiplier = 1;  ///< of the optimiser's weight_decay alone
  double layer_decay = 1;  ///< multiplies the learning rate as well, once for each layer above that of the parameter
};

/// The factors of one parameter.
struct Multipliers {
  double lr = 1, weight_decay = 1;
  friend constexpr bool operator==(const Multipliers&, const Multipliers&) = default;
};

/// T lists groups as `static constexpr ParameterGroup groups[] = {…}`.
template <class T> concept ListsGroups = requires {
  { T::groups[0] } -> std::same_as<const ParameterGroup&>;
  typename std::integral_constant<bool, (T::groups[0].lr_multiplier > 0)>;
  typename std::integral_constant<std::size_t, std::size(T::groups)>;
};

}  // namespace monomorph
