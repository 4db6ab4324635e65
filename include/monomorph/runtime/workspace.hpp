#pragma once
#include <cstdint>

namespace monomorph {

/// What the kernels keep for themselves on the CPU, all threads together, taken at first use and never returned: tiles
/// of matrix products and partial sums. The memory plan adds it to what a rank needs.
std::int64_t kernel_workspace_bytes();

}  // namespace monomorph
