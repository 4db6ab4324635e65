#pragma once
#include "train/scaling/calibration.hpp"

#include <monomorph/plan/planned_recipe.hpp>

namespace monomorph::train {

/// Seconds of a layer's kernels for a micro-batch.
struct LayerSeconds {
  double forward = 0, backward = 0;  ///< backward includes what is computed again
};

/// The roof of each layer: products at the rate that they attain, but not faster than their weights are read; attention
/// at its rates of forward and backward; and the bytes that all other kernels move at the memory's bandwidth.
class LayerTime {
 public:
  LayerTime(const plan::PlannedRecipe& recipe, const GpuSpec& gpu, const Calibration& calibration);

  /// @param work of what is computed again
  LayerSeconds seconds(const plan::LayerWork& layer, const plan::RecomputedWork& work, double tokens) const;
  /// That kernels take to read and write so many bytes.
  double moving(double bytes) const { return bytes / bandwidth_; }
  /// Of an optimiser's products of whole matrices.
  double transforming(const TransformWork& work) const;

 private:
  double elements_per_token(const plan::LayerWork& layer) const;
  /// Seconds of the kernels that only round, to fp8.
  struct Rounding {
    double forward = 0, backward = 0;
  };
  Rounding rounding(const plan::LayerWork& layer, double tokens) const;
  const GpuSpec& gpu_;
  double attained_;  ///< of a peak
  double product_rate_, block_product_rate_, attention_forward_rate_, attention_backward_rate_, bandwidth_,
      elementwise_;
  bool rounds_products_;  ///< of blocks, to fp8
  std::optional<RoundingBytes> rounding_;
  double width_, compute_bytes_, logit_bytes_;
};

}  // namespace monomorph::train
