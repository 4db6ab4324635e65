#pragma once
#include <cstdint>

namespace monomorph::plan {

/// Memory for pieces of gradients on their way between ranks: two that are being received while two are added up, and
/// as much for what is rounded before it is sent.
inline constexpr std::int64_t staging_bytes = std::int64_t{8} << 20;
constexpr std::int64_t communication_bytes(int dp) { return dp > 1 ? staging_bytes : 0; }

}  // namespace monomorph::plan
