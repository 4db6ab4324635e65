#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace monomorph::simulator {

/// A vector clock: by stream, how many of its operations are known to have run before something does. Of two operations
/// of different streams one runs before the other in every schedule if its number is within the other's clock.
struct Clock {
  static constexpr std::size_t most_streams = 7;  ///< those of a backend, and those on which branches of graphs run
  std::array<std::uint32_t, most_streams> of_streams{};

  void join(const Clock& other) {
    for (std::size_t i = 0; i < most_streams; ++i) of_streams[i] = std::max(of_streams[i], other.of_streams[i]);
  }
};

}  // namespace monomorph::simulator
