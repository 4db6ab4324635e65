#pragma once
#include <cstdint>

namespace monomorph {

/// What the kernels keep for themselves on the CPU, all threads together, taken at first use and never returned: tiles
/// of matrix products, partial sums, and what MKL packs operands into. A run needs it beside what is planned.
std::int64_t kernel_workspace_bytes();

}  // namespace monomorph
