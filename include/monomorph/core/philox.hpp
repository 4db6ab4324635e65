#pragma once
#include <array>
#include <cstdint>

/// Counter-based random numbers: Philox 4x32-10 (Salmon et al. 2011). A number depends on its key and counter alone.
namespace monomorph::random {

enum class Purpose : std::uint32_t {
  initialization = 1,
  dropout = 2,
  sampling = 3,
  data_order = 4,
  rounding = 5,
  training_samples = 6,   ///< what an objective makes of them
  evaluation_samples = 7  ///< the same of held-out ones
};

inline constexpr std::uint32_t philox_rounds = 10;

/// One round on a counter of four words; `round` counts from 0. Always inlined, so that kernels may compile it for one
/// instruction set and others for another.
[[gnu::always_inline]] constexpr void philox_round(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2,
                                                   std::uint32_t& c3, std::uint32_t key0, std::uint32_t key1,
                                                   std::uint32_t round) {
  const std::uint64_t product0 = 0xD2511F53ull * c0, product1 = 0xCD9E8D57ull * c2;
  c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ (key0 + round * 0x9E3779B9u);
  c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ (key1 + round * 0xBB67AE85u);
  c1 = static_cast<std::uint32_t>(product1);
  c3 = static_cast<std::uint32_t>(product0);
}

constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (std::uint32_t round = 0; round < philox_rounds; ++round)
    philox_round(counter[0], counter[1], counter[2], counter[3], key[0], key[1], round);
  return counter;
}

/// Names one stream of numbers, of which element i can be drawn in any order.
struct Stream {
  std::uint64_t seed;
  Purpose purpose;
  std::uint32_t layer = 0, site = 0;
};

/// Streams differ in their key, elements of a stream in their counter.
constexpr std::array<std::uint32_t, 2> key_of(const Stream& stream) {
  const auto words = philox({static_cast<std::uint32_t>(stream.purpose), stream.layer, stream.site, 0},
                            {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)});
  return {words[0], words[1]};
}

}  // namespace monomorph::random
