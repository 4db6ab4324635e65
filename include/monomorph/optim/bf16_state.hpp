#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::optim {

/// An optimiser whose state is kept in bf16, rounded stochastically, beside masters of a wider type: half the memory
/// for moments that only steer.
template <class Optimizer> struct Bf16State : Optimizer { static constexpr DType state_dtype = DType::bf16; };

}  // namespace monomorph::optim
