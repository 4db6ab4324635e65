#pragma once
#include <cstdint>
#include <limits>
#include <monomorph/core/extremes.hpp>

namespace monomorph::cuda {

/// For tests. Threads take turns over what a grid has no thread for, which sizes as small as theirs never leave to a
/// second turn; with fewer blocks they do. Bits do not depend on it where a kernel asks most_blocks.
inline std::int64_t bound_on_blocks = std::numeric_limits<std::int64_t>::max();

/// Of a grid in one direction.   @param usual the most that are worth starting
inline std::int64_t most_blocks(std::int64_t usual) { return smaller_of(usual, bound_on_blocks); }

}  // namespace monomorph::cuda
