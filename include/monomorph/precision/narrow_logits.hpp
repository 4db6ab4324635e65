#pragma once
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::precision {

/// A precision of 16 bits whose logits are rounded to the dtype of compute, with their gradients in their place. A
/// chunk of them takes a third of the memory that it takes otherwise, and the head's product and the loss move half as
/// much. In bf16 a logit is then off by up to 2^-9 of itself. Exponentials, their sums and losses stay fp32.
template <class Precision> struct NarrowLogits : Precision {
  static constexpr DType logits_dtype = Precision::compute_dtype;
};

}  // namespace monomorph::precision
