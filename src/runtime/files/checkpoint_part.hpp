#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::runtime {

/// What the metadata of a rank's safetensors file says, by name, of a tensor that it holds a run of elements of: "from
/// 4096 of 256x128". The run itself is a tensor of one dimension.
struct PartOfTensor {
  std::int64_t first = 0;
  std::vector<std::int64_t> shape;  ///< of the whole tensor
};
std::string to_text(const PartOfTensor& part);
/// Absent if the text does not say such a thing.
std::optional<PartOfTensor> part_from(const std::string& text);

/// Absent if the elements are too many to count, or a size is negative.
std::optional<std::int64_t> n_elements(const std::vector<std::int64_t>& shape);

}  // namespace monomorph::runtime
