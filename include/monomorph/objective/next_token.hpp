#pragma once
#include <monomorph/policy/objective_policy.hpp>

namespace monomorph::objective {

/// Cross-entropy of the next token, averaged over the counted tokens of the whole global batch.
struct NextToken {
  static constexpr std::string_view name = "NextToken";
  static constexpr bool predicts_next_token = true;
};
static_assert(ObjectivePolicy<NextToken>);

}  // namespace monomorph::objective
