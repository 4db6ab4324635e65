#pragma once
#include <string_view>

namespace monomorph::train {

/// What this program was built from. Written by CMake into a file of its own, for a commit to recompile nothing else.
struct Version {
  std::string_view number;
  std::string_view commit;  ///< of git, empty where there is none; changes that were not committed don't show
  std::string_view compiler;
};
Version version();

}  // namespace monomorph::train
