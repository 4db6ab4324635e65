#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// bf16 compute and gathering over fp32 master parameters and moments; fp32 gradients, reduced as such.
struct Bf16Mixed {
  static constexpr DType compute_dtype = DType::bf16, gradient_dtype = DType::fp32, reduce_dtype = DType::fp32,
                         master_dtype = DType::fp32;
};

/// The same, with gradients rounded to bf16 for their way between ranks: half the bytes. Sums are formed in fp32.
struct Bf16MixedReducingBf16 : Bf16Mixed {
  static constexpr DType reduce_dtype = DType::bf16;
};

}  // namespace monomorph::precision
