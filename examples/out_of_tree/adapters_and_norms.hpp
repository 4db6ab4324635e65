#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace stranger {

/// Low-rank adapters are trained, and norms beside them, in the blocks from `first` on and behind them; nothing else
/// is.
template <int first> struct AdaptersAndNorms {
  static constexpr monomorph::LowRankSpec low_rank{.rank = 4, .alpha = 8};
  static constexpr bool trains(monomorph::UnitKind kind, int block) {
    return kind == monomorph::UnitKind::head || (kind == monomorph::UnitKind::block && block >= first);
  }
  static constexpr bool trains_parameter(std::string_view name, monomorph::ParameterClass parameter_class) {
    return monomorph::is_of_adapter(name) || parameter_class == monomorph::ParameterClass::norm;
  }
};
static_assert(monomorph::FinetuningPolicy<AdaptersAndNorms<1>>);

}  // namespace stranger
