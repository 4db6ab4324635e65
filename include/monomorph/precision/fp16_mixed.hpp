#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// fp16 compute and gathering over fp32 master parameters and moments; fp32 gradients, of the loss times a scale that
/// follows the run (train/step/loss_scale.hpp), since small ones would be lost in fp16.
struct Fp16Mixed {
  static constexpr DType compute_dtype = DType::fp16, gradient_dtype = DType::fp32, reduce_dtype = DType::fp32,
                         master_dtype = DType::fp32;
};

}  // namespace monomorph::precision
