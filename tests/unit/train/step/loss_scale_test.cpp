#include "train/step/loss_scale.hpp"

#include "support/catch.hpp"

using namespace monomorph;
using namespace monomorph::train;

namespace {

LossScaleHparams settings(double initial, double minimum, std::int64_t growth_steps) {
  LossScaleHparams hparams;
  hparams.initial.value = initial;
  hparams.minimum.value = minimum;
  hparams.growth_steps.value = growth_steps;
  return hparams;
}

}  // namespace

TEST_CASE("the loss is scaled for fp16 compute alone, by powers of two") {
  const LossScaleHparams hparams = settings(1000, 1, 2);
  CHECK(initial_loss_scale(DType::fp16, hparams) == 512);
  CHECK(initial_loss_scale(DType::bf16, hparams) == 1);
  LossScale scale;
  for (const bool applied : {false, true, true, true})
    scale = next_loss_scale(scale, applied, loss_scaling_of(DType::bf16, hparams));
  CHECK(scale == LossScale{});
  CHECK_FALSE(can_lower(512, loss_scaling_of(DType::fp32, hparams)));
}

TEST_CASE("a step with infinite gradients halves the scale down to its minimum, steps without double it") {
  const LossScaleHparams hparams = settings(8, 3, 2);
  const LossScaling scaling = loss_scaling_of(DType::fp16, hparams);
  LossScale scale{initial_loss_scale(DType::fp16, hparams)};
  const auto after = [&](bool applied) {
    scale = next_loss_scale(scale, applied, scaling);
    return scale.value;
  };
  CHECK(after(false) == 4);
  CHECK(can_lower(4, scaling));
  CHECK(after(false) == 2);  // 3 is rounded down as well
  CHECK_FALSE(can_lower(2, scaling));
  CHECK(after(false) == 2);
  CHECK(after(true) == 2);
  CHECK(after(true) == 4);
  CHECK(after(true) == 4);
  CHECK(after(false) == 2);  // and counts from the beginning
  CHECK(after(true) == 2);
  CHECK(after(true) == 4);
}
