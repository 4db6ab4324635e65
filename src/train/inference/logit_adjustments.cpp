#include "train/inference/logit_adjustments.hpp"

namespace monomorph::train {

/// A token beyond those that logits are of is left alone: some tokenisers name more tokens than their model has.
void LogitAdjustments::apply(std::vector<double>& logits) const {
  const auto has = [&](std::int32_t id) { return 0 <= id && static_cast<std::size_t>(id) < logits.size(); };
  for (const auto& [id, bias] : settings_.logit_bias)
    if (has(id)) logits[static_cast<std::size_t>(id)] += bias;
  for (const auto& [id, count] : counts_) {
    if (!has(id)) continue;
    double& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / settings_.repetition_penalty : logit * settings_.repetition_penalty;
    logit -= settings_.frequency_penalty * static_cast<double>(count);
    if (count > 0) logit -= settings_.presence_penalty;
  }
}

}  // namespace monomorph::train
