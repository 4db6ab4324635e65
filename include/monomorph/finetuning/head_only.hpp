#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace monomorph::finetuning {

/// A linear probe: only the final norm and the head are trained. Not with a tied head [FREEZE-03].
struct HeadOnly {
  static constexpr bool trains(UnitKind kind, int /*block*/) { return kind == UnitKind::head; }
};

}  // namespace monomorph::finetuning
