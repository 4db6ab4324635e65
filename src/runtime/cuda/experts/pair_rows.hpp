#pragma once
#include <monomorph/runtime/kernels/routing.hpp>

namespace monomorph::cuda {

/// Where on the GPU it says how many rows of pairs a routing has.
inline const std::int32_t* n_rows_of(const Routing& routing) { return routing.begins_E + routing.n_experts; }

}  // namespace monomorph::cuda
