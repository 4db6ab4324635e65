#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace stranger {

/// bf16 all the way but where gradients add up: parameters, compute, moments and the gradients' way between ranks.
struct LeanBf16 {
  static constexpr auto compute_dtype = monomorph::DType::bf16, gradient_dtype = monomorph::DType::fp32,
                        reduce_dtype = monomorph::DType::bf16, master_dtype = monomorph::DType::bf16;
};
static_assert(monomorph::PrecisionPolicy<LeanBf16>);

}  // namespace stranger
