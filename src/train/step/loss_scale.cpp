#include "train/step/loss_scale.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

constexpr double greatest_scale = 0x1p40;

/// A power of two changes no bit of a gradient that fits.
double power_of_two(double x) { return std::exp2(std::floor(std::log2(x))); }

}  // namespace

double initial_loss_scale(DType compute, const LossScaleHparams& hparams) {
  return compute == DType::fp16 ? power_of_two(hparams.initial) : 1;
}

bool can_be_loss_scale(double scale) {
  return scale >= power_of_two(LossScaleHparams{}.minimum.min) && scale <= greatest_scale &&
         power_of_two(scale) == scale;
}

bool can_lower(double scale, DType compute, const LossScaleHparams& hparams) {
  return compute == DType::fp16 && scale > power_of_two(hparams.minimum);
}

void update_loss_scale(RunState& state, bool applied, DType compute, const LossScaleHparams& hparams) {
  if (compute != DType::fp16) return;
  if (!applied) {
    state.loss_scale = std::max(state.loss_scale / 2, power_of_two(hparams.minimum));
    state.steps_at_scale = 0;
  } else if (++state.steps_at_scale >= hparams.growth_steps) {
    state.loss_scale = std::min(2 * state.loss_scale, greatest_scale);
    state.steps_at_scale = 0;
  }
}

}  // namespace monomorph::train
