#pragma once
#include <cstddef>

/// Fixed-size memory of the calling thread, taken at first use; its bytes are whatever the last user left. Aligned
/// to 64.
namespace monomorph::detail {

/// For what one task works on: operands and result of one tile of a matrix product. Not across a parallel_for.
inline constexpr std::size_t tile_workspace_bytes = std::size_t{3} << 20;
std::byte* tile_workspace();

/// For partial sums that the tasks of one parallel_for leave to its caller.
inline constexpr std::size_t partial_workspace_bytes = std::size_t{4} << 20;
std::byte* partial_workspace();

}  // namespace monomorph::detail
