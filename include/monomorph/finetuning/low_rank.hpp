#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace monomorph::finetuning {

/// Low-rank adapters beside the products that `spec` names are trained, and nothing else is
/// (docs/reference/lora.md): `LowRank<LowRankSpec{.rank = 8, .alpha = 16}>`.
template <LowRankSpec spec> struct LowRank {
  static constexpr LowRankSpec low_rank = spec;
  static constexpr bool trains(UnitKind /*kind*/, int /*block*/) { return true; }
  static constexpr bool trains_parameter(std::string_view name, ParameterClass /*parameter_class*/) {
    return is_of_adapter(name);
  }
};

}  // namespace monomorph::finetuning
