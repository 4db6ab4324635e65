#pragma once
#include <cstdint>

namespace monomorph::plan {

/// Memory for pieces of gradients on their way between ranks: two that are being received while two are added up, and
/// as much for what is rounded before it is sent.
inline constexpr std::int64_t staging_bytes = std::int64_t{8} << 20;
/// What c10d keeps for the connections with the other ranks: 32 to 43 KiB were measured with 2 and 4.
constexpr std::int64_t connection_bytes(int dp) { return (std::int64_t{64} << 10) + dp * (std::int64_t{8} << 10); }
constexpr std::int64_t communication_bytes(int dp) { return dp > 1 ? staging_bytes + connection_bytes(dp) : 0; }

}  // namespace monomorph::plan
