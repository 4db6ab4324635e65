#pragma once
#include <monomorph/spec/parameter_name.hpp>

#include <string>
#include <string_view>

namespace monomorph::train {

/// The name by which checkpoints know a tensor of a unit.   @param block the unit's; negative if it is none
inline std::string tensor_name(std::string_view name, int block) {
  return std::string(ParameterName(name, block).view());
}

}  // namespace monomorph::train
