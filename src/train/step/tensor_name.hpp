#pragma once
#include <string>
#include <string_view>

namespace monomorph::train {

/// The name by which checkpoints know a tensor of a unit.   @param block the unit's; negative if it is none
inline std::string tensor_name(std::string_view name, int block) {
  return block >= 0 ? "layers." + std::to_string(block) + "." + std::string(name) : std::string(name);
}

}  // namespace monomorph::train
