#pragma once
#include <cstdint>

namespace monomorph {

inline constexpr std::int32_t ignored_target = -1;  ///< a target that counts for nothing

/// How many targets are not ignored.
inline std::int64_t count_targets(const std::int32_t* targets, std::int64_t n) {
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < n; ++i) counted += targets[i] != ignored_target ? 1 : 0;
  return counted;
}

}  // namespace monomorph
