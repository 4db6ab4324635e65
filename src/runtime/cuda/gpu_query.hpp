#pragma once
#include <monomorph/runtime/gpus.hpp>

namespace monomorph::cuda {

/// What the CUDA runtime reports; empty if it reports an error, as it does without a driver.
std::vector<Gpu> query_gpus();

}  // namespace monomorph::cuda
