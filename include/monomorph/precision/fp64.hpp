#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// Everything in fp64: for numerics tests.
struct Fp64 {
  static constexpr DType compute_dtype = DType::fp64, gradient_dtype = DType::fp64, reduce_dtype = DType::fp64,
                         master_dtype = DType::fp64;
};

}  // namespace monomorph::precision
