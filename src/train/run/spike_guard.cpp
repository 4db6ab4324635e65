#include "train/run/spike_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monomorph::train {

void SpikeGuard::set_limits(const SpikeLevels& levels, StepSettings& settings) const {
  if (!is_on() || !knows_enough(levels)) return;
  settings.most_loss = levels.loss.above(hparams_.sigmas);
  settings.most_gradient_norm = levels.gradient_norm.above(hparams_.sigmas);
}

void SpikeGuard::add(const StepOutcome& outcome, SpikeLevels& levels) const {
  const double loss = outcome.mean(outcome.loss), norm = outcome.gradient_norm;
  if (!is_on() || !std::isfinite(loss) || !std::isfinite(norm)) return;
  StepSettings limits;
  set_limits(levels, limits);
  levels.loss.add(std::min(loss, limits.most_loss), hparams_.window);
  levels.gradient_norm.add(std::min(norm, limits.most_gradient_norm), hparams_.window);
}

std::string SpikeGuard::description(const StepOutcome& outcome, const SpikeLevels& levels) const {
  const double loss = outcome.mean(outcome.loss), most_loss = levels.loss.above(hparams_.sigmas);
  const bool of_loss = loss > most_loss;
  return fmt::format("its {} of {:.4g} is above {:.4g}", of_loss ? "loss" : "gradient norm",
                     of_loss ? loss : outcome.gradient_norm,
                     of_loss ? most_loss : levels.gradient_norm.above(hparams_.sigmas));
}

}  // namespace monomorph::train
