#pragma once
#include "runtime/cuda/launch/philox_words.hpp"
#include "runtime/kernels/stochastic_rounding.hpp"

#include <type_traits>

/// bf16 rounded stochastically, with the bits of the CPU: the words of 64 elements, a group, are those of sixteen
/// counters, its lanes. Lane l gives the words of elements l, 16 + l, 32 + l and 48 + l. So a thread that takes
/// elements which lie 16 apart draws no word twice.
namespace monomorph::cuda {
namespace {

constexpr int noise_group = 64, noise_lanes = 16, noise_words = 4;

/// The random bits for a run of elements.
struct NoiseStream {
  std::uint32_t key0, key1;
  std::uint64_t first;  ///< place in its unit of the run's first element, a multiple of 64
};

/// The bits of a thread's elements: `width` side by side, in each of the four sixteenths of a group. Two buffers share
/// a word: those of buffers 2 c and 2 c + 1.
template <int n_buffers, int width> struct NoiseWords {
  static constexpr int n_counters = (n_buffers + 1) / 2;
  std::uint32_t words[n_counters][noise_words][width];

  __device__ void draw(const NoiseStream& stream, std::uint64_t update, std::int64_t i) {
    const std::uint64_t place = stream.first + static_cast<std::uint64_t>(i);
    const auto group = static_cast<std::uint32_t>(place / noise_group);
    const auto lane = static_cast<std::uint32_t>(place % noise_group);
    MONOMORPH_UNROLL
    for (int c = 0; c < n_counters; ++c) {
      MONOMORPH_UNROLL
      for (int at = 0; at < width; ++at) {
        const PhiloxWords drawn = philox_words(group * noise_lanes + lane + static_cast<std::uint32_t>(at),
                                               static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(update),
                                               static_cast<std::uint32_t>(update >> 32), stream.key0, stream.key1);
        MONOMORPH_UNROLL
        for (int sixteenth = 0; sixteenth < noise_words; ++sixteenth) words[c][sixteenth][at] = drawn.of[sixteenth];
      }
    }
  }
  /// Sixteen bits of an element of a buffer.
  __device__ std::uint32_t of(int buffer, int sixteenth, int at) const {
    return words[buffer / 2][sixteenth][at] >> (buffer % 2 * 16) & 0xFFFFu;
  }
};

/// As a buffer of an update keeps it: only bf16 is rounded.
template <class T, class S> __device__ T rounded_as(S x, std::uint32_t sixteen_bits) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return round_stochastically(x, sixteen_bits);
  else
    return x;
}

}  // namespace
}  // namespace monomorph::cuda
