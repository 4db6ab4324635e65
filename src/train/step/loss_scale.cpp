#include "train/step/loss_scale.hpp"

#include <cmath>

namespace monomorph::train {
namespace {

/// A power of two changes no bit of a gradient that fits.
double power_of_two(double x) { return std::exp2(std::floor(std::log2(x))); }

}  // namespace

LossScaling loss_scaling_of(DType compute, const LossScaleHparams& hparams) {
  return {.is_dynamic = compute == DType::fp16,
          .minimum = power_of_two(hparams.minimum),
          .growth_steps = hparams.growth_steps};
}

double initial_loss_scale(DType compute, const LossScaleHparams& hparams) {
  return compute == DType::fp16 ? power_of_two(hparams.initial) : 1;
}

bool can_be_loss_scale(double scale) {
  return scale >= power_of_two(LossScaleHparams{}.minimum.min) && scale <= LossScaling::greatest &&
         power_of_two(scale) == scale;
}

bool can_lower(double scale, const LossScaling& scaling) { return scaling.is_dynamic && scale > scaling.minimum; }

}  // namespace monomorph::train
