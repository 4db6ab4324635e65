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
/// What c10d keeps for the connections with the other ranks (32 to 43 KiB were measured with 2 and 4), and what the
/// four threads that exchange messages keep of LibTorch's thread-local variables, 26 KiB each: as it is loaded when
/// ranks meet, they are allocated in each thread that reads one.
constexpr std::int64_t connection_bytes(int dp) {
  constexpr std::int64_t kib = 1 << 10, connections = 64 * kib, each = 8 * kib, threads = 4 * 27 * kib;
  return dp > 1 ? connections + threads + dp * each : 0;
}
constexpr std::int64_t communication_bytes(int dp) { return staging_bytes(dp) + connection_bytes(dp); }

}  // namespace monomorph::plan
