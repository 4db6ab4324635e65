#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// bf16 parameters and moments, rounded stochastically, and no other copy: 6 bytes a parameter where Bf16Mixed
/// keeps 14. The first moment carries what rounding took from a parameter. Gradients accumulate and are reduced in
/// fp32.
struct Bf16Pure {
  static constexpr DType compute_dtype = DType::bf16, gradient_dtype = DType::fp32, reduce_dtype = DType::fp32,
                         master_dtype = DType::bf16;
};

}  // namespace monomorph::precision
