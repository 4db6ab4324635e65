#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// Everything in fp32.
struct Fp32 {
  static constexpr DType compute_dtype = DType::fp32, gradient_dtype = DType::fp32, reduce_dtype = DType::fp32,
                         master_dtype = DType::fp32;
};

}  // namespace monomorph::precision
