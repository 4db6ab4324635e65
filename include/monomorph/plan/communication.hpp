#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/spec/layout.hpp>

namespace monomorph::plan {

/// Memory for pieces of gradients on their way between ranks: two that are being received while two are added up, and
/// as much for what is rounded before it is sent. Each of the four has room for a slice from every other rank, whatever
/// its dtype.
constexpr std::int64_t staging_bytes(int dp) {
  constexpr std::int64_t widest = 8;
  return dp > 1 ? larger_of(8 << 20, 4 * (dp - 1) * alignment_elements * widest) : 0;
}
/// What c10d keeps for the connections with the other ranks: 32 to 43 KiB were measured with 2 and 4.
constexpr std::int64_t connection_bytes(int dp) {
  return dp > 1 ? (std::int64_t{64} << 10) + dp * (std::int64_t{8} << 10) : 0;
}
constexpr std::int64_t communication_bytes(int dp) { return staging_bytes(dp) + connection_bytes(dp); }

}  // namespace monomorph::plan
