#pragma once
#include <monomorph/spec/region_run.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::runtime {

/// What a rank's safetensors file holds of a tensor.
struct PartOfTensor {
  std::vector<std::int64_t> shape;  ///< of the whole tensor
  RegionRun run;                    ///< of a tensor of dims_of(shape)
};

/// The note in a file's metadata about a tensor of which it holds only a part: "from 4096 of 256x128" if that is a run
/// of the whole tensor's elements, "from 0 of 256x64 at 0,64 of 256x128" if it is one of a region of that extent and
/// offset. In the file the run is a tensor of one dimension.
std::string note_of(const PartOfTensor& part);

/// @param name of the tensor   @throws Error [CHECKPOINT-12] the run is none of a tensor of this shape
void check_run(const RegionRun& run, const std::vector<std::int64_t>& shape, const std::string& name);

/// What a file holds, which nobody vouches for.
/// @param shape of the tensor in the file   @param note about it; null if it has none, and so is whole
/// @throws std::invalid_argument that says why a note is of no part that there can be
PartOfTensor part_from(const std::vector<std::int64_t>& shape, const std::string* note);

}  // namespace monomorph::runtime
