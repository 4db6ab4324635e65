#include "train/inference/logits.hpp"

#include <monomorph/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {

double log_sum(std::span<const float> logits) {
  const double greatest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - greatest);
  return greatest + std::log(sum);
}

void check_finite(std::span<const float> logits) {
  const bool has_nan = std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); });
  if (has_nan || !std::isfinite(*std::ranges::max_element(logits))) refuse_logits();
}

void refuse_logits() {
  throw Error("RUN-14", "the model's logits are not finite: its training diverged; use an earlier checkpoint");
}

}  // namespace monomorph::train
