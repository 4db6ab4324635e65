#pragma once

/// For how large a GPU the kernels whose blocks each add up a part are cut into blocks. What they find is rounded by
/// part, so that the bits follow from the number of blocks, and a run that goes on on another GPU must keep it: shapes
/// decide, and never what the machine has. A GPU with fewer multiprocessors runs the blocks in turns; one with many
/// more is not full where this number bounds them.
namespace monomorph::cuda {

inline constexpr int multiprocessors_to_fill = 132;  ///< those of an H100 or H200

}  // namespace monomorph::cuda
