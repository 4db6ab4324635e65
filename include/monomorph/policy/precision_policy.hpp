#pragma once
#include <concepts>
#include <monomorph/core/dtype.hpp>
#include <string_view>

namespace monomorph {

/// Which dtype each part of a step uses.
template <class P> concept PrecisionPolicy = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::compute_dtype } -> std::convertible_to<DType>;   // parameters and activations in compute, and what is gathered
  { P::gradient_dtype } -> std::convertible_to<DType>;  // gradients as they accumulate
  { P::reduce_dtype } -> std::convertible_to<DType>;    // gradients on their way between ranks
  { P::master_dtype } -> std::convertible_to<DType>;    // parameters and moments of the optimiser; bf16: see adamw
};

/// The optimiser updates a copy of its own, and compute reads a rounded one.
template <PrecisionPolicy P> inline constexpr bool keeps_master_copy = P::master_dtype != P::compute_dtype;

}  // namespace monomorph
