#pragma once
#include <span>

namespace monomorph::train {

/// The logarithm of the sum of the exponentials; not finite if a logit is NaN or infinite above.
double log_sum(std::span<const float> logits);

/// Comes before anything is sorted or compared, since NaN has no order.   @throws Error [RUN-14]
void check_finite(std::span<const float> logits);

/// @throws Error [RUN-14]
[[noreturn]] void refuse_logits();

}  // namespace monomorph::train
