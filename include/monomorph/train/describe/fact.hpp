#pragma once
#include <string>

namespace monomorph::train {

/// Something that is true of a recipe, as `describe` shows it and a checkpoint keeps it.
struct Fact {
  std::string name, value;
  bool shapes_state = true;  ///< whether the state fingerprint depends on it
};

}  // namespace monomorph::train
