#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace monomorph::finetuning {

/// Every unit is trained.
struct All {
  static constexpr bool trains(UnitKind /*kind*/, int /*block*/) { return true; }
};

}  // namespace monomorph::finetuning
