#pragma once
#include <monomorph/spec/decoder_spec.hpp>

#include "runtime/cuda/fp8/round_to_fp8.hpp"

namespace monomorph::cuda {

/// round_to_fp8 of an activation of h, which is made in the same pass and stored nowhere else, to e4m3.
void round_activation(Queue queue, Activation activation, View h, const float* scale, const RoundedTo& to,
                      std::int64_t* maximum);
/// round_to_fp8 of the gradient of h, to e5m2.   @param dh absent, or where the gradient is stored as bf16, too
void round_activation_gradient(Queue queue, Activation activation, View h, View dy, View dh, const float* scale,
                               const RoundedTo& to, std::int64_t* maximum);

}  // namespace monomorph::cuda
