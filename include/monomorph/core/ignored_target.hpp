#pragma once
#include <cstdint>

namespace monomorph {

inline constexpr std::int32_t ignored_target = -1;  ///< a target that counts for nothing

}  // namespace monomorph
