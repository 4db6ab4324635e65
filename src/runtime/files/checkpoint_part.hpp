#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::runtime {

/// A note in the metadata of a rank's safetensors file about a tensor of which it holds only a run of elements: "from
/// 4096 of 256x128". In the file that run is a tensor of one dimension.
struct PartOfTensor {
  std::int64_t first = 0;
  std::vector<std::int64_t> shape;  ///< of the whole tensor
};
std::string to_text(const PartOfTensor& part);
/// Absent if the text has another form.
std::optional<PartOfTensor> part_from(const std::string& text);

/// Absent if the elements are too many to count, or a size is negative.
std::optional<std::int64_t> n_elements(const std::vector<std::int64_t>& shape);

}  // namespace monomorph::runtime
