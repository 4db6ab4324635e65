#pragma once
#include <optional>
#include <string>

namespace monomorph::cuda {

/// What CUDA says where there is no GPU; absent if there is one.
std::optional<std::string> why_no_gpu();

}  // namespace monomorph::cuda
