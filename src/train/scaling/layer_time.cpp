#include "train/scaling/layer_time.hpp"

#include <algorithm>

namespace monomorph::train {
namespace {

double attained(GpuKind kind, const Calibration& calibration) {
  switch (kind) {
    case GpuKind::ampere:
      return calibration.products_on_ampere;
    case GpuKind::hopper_hbm2e:
      return calibration.products_on_hopper_hbm2e;
    case GpuKind::blackwell:
      return calibration.products_on_blackwell;
    case GpuKind::hopper:
      break;
  }
  return calibration.products_on_hopper;
}

double attention_forward(GpuKind kind, const Calibration& calibration) {
  return kind == GpuKind::ampere ? calibration.attention_forward_on_ampere : calibration.attention_forward_on_hopper;
}
double attention_backward(GpuKind kind, const Calibration& calibration) {
  return kind == GpuKind::ampere ? calibration.attention_backward_on_ampere : calibration.attention_backward_on_hopper;
}

/// How often kernels touch what backward reads: it is written and read in forward; backward reads it again, and writes
/// and reads its gradient.
constexpr double touches_forward = 2, touches_backward = 3;

}  // namespace

LayerTime::LayerTime(const plan::PlannedRecipe& recipe, const GpuSpec& gpu, const Calibration& calibration)
    : gpu_(gpu),
      attained_(attained(gpu.kind, calibration)),
      product_rate_(peak_flops(gpu, recipe.compute_dtype) * attained_),
      block_product_rate_(peak_flops(gpu, recipe.product_dtype) * attained_),
      attention_forward_rate_(product_rate_ * attention_forward(gpu.kind, calibration)),
      attention_backward_rate_(product_rate_ * attention_backward(gpu.kind, calibration)),
      bandwidth_(gpu.memory_bandwidth),
      elementwise_(calibration.elementwise),
      rounds_products_(recipe.product_dtype != recipe.compute_dtype),
      rounding_(calibration.rounding),
      width_(static_cast<double>(recipe.trunk->d_model)),
      compute_bytes_(static_cast<double>(size_of(recipe.compute_dtype))),
      logit_bytes_(static_cast<double>(size_of(recipe.logits_dtype))) {}

double LayerTime::transforming(const TransformWork& work) const {
  return work.flops == 0 ? 0 : work.flops / (peak_flops(gpu_, work.dtype) * attained_);
}

/// Of the compute dtype: what the plan saves of it and its output; of a vocabulary's head its logits, which may be
/// wider.
double LayerTime::elements_per_token(const plan::LayerWork& layer) const {
  if (layer.kind != UnitKind::head) return width_ + layer.dear + layer.cheap;
  const double logits = layer.products / (2 * width_);
  return width_ + logits * logit_bytes_ / compute_bytes_;
}

/// Kernels of their own round weights once forward and once backward, though less is moved where transposes are kept;
/// in both what attention gives; and backward the two gradients of the residual stream, as they are and transposed. The
/// rest is rounded by what makes it. Of another program its RoundingBytes say what is moved.
LayerTime::Rounding LayerTime::rounding(const plan::LayerWork& layer, double tokens) const {
  if (layer.kind != UnitKind::block || !rounds_products_) return {};
  const double weights = layer.products / 2;  // two operations for each weight and token
  if (rounding_)
    return {moving(tokens * rounding_->forward_token + weights * rounding_->forward_weight),
            moving(tokens * rounding_->backward_token + weights * rounding_->backward_weight)};
  const double byte = static_cast<double>(size_of(DType::e4m3)), once = compute_bytes_ + byte,
               twice = compute_bytes_ + 2 * byte, of_width = tokens * width_;
  const double forward = once * (weights + of_width);
  return {moving(forward), moving(forward + 2 * twice * of_width)};
}

LayerSeconds LayerTime::seconds(const plan::LayerWork& layer, const plan::RecomputedWork& work, double tokens) const {
  const double weights = moving(layer.products / 2 * compute_bytes_);  // two operations for each weight and token
  const Rounding rounding = this->rounding(layer, tokens);
  const double rate = layer.kind == UnitKind::block ? block_product_rate_ : product_rate_;
  const double product = std::max(tokens * layer.products / rate, weights), attention = tokens * layer.attention,
               touch = elementwise_ * moving(tokens * elements_per_token(layer) * compute_bytes_);
  LayerSeconds seconds{.forward =
                           product + rounding.forward + attention / attention_forward_rate_ + touches_forward * touch};
  if (!layer.is_reached && layer.passes_of_products == 1) return seconds;
  seconds.backward = (layer.passes_of_products - 1) * product + rounding.backward +
                     (layer.passes_of_attention - 1) * attention / attention_backward_rate_ + touches_backward * touch;
  if (layer.products > 0) seconds.backward += (product + rounding.forward) * work.products / layer.products;
  seconds.backward += tokens * work.attention / attention_forward_rate_ +
                      touches_forward * elementwise_ * moving(tokens * work.elements * compute_bytes_);
  return seconds;
}

}  // namespace monomorph::train
