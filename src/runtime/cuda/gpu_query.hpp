#pragma once
#include <monomorph/runtime/machine/gpus.hpp>

#include <optional>

namespace monomorph::cuda {

/// What the CUDA runtime reports; empty if it reports an error, as it does without a driver.
std::vector<Gpu> query_gpus();

/// What CUDA says where there is no GPU; absent if there is one.
std::optional<std::string> why_no_gpu();

}  // namespace monomorph::cuda
