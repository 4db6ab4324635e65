#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace monomorph::finetuning {

/// All is trained but the parameters that Names selects, by name or by class:
///
///   struct Names {
///     static constexpr monomorph::ParameterSelector parameters[] = {"embedding.*", ParameterClass::norm};
///   };
///   using finetuning = monomorph::finetuning::Freeze<Names>;
template <class Names> struct Freeze {
  static constexpr const auto& selected = selected_parameters<Names>();
  static constexpr bool trains(UnitKind /*kind*/, int /*block*/) { return true; }
  static constexpr bool trains_parameter(std::string_view name, ParameterClass parameter_class) {
    return !any_contains(selected, name, parameter_class);
  }
};

/// Nothing is trained but the parameters that Names selects: `{ParameterClass::bias}` makes it BitFit (Ben Zaken et al.
/// 2022).
template <class Names> struct TrainOnly {
  static constexpr const auto& selected = selected_parameters<Names>();
  static constexpr bool trains(UnitKind /*kind*/, int /*block*/) { return true; }
  static constexpr bool trains_parameter(std::string_view name, ParameterClass parameter_class) {
    return any_contains(selected, name, parameter_class);
  }
};

}  // namespace monomorph::finetuning
