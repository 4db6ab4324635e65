#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// bf16 compute and gathering over fp32 master parameters and moments; fp32 gradients.
struct Bf16Mixed {
  static constexpr std::string_view name = "Bf16Mixed";
  static constexpr DType compute_dtype = DType::bf16, gradient_dtype = DType::fp32, master_dtype = DType::fp32;
};
static_assert(PrecisionPolicy<Bf16Mixed>);

}  // namespace monomorph::precision
