#pragma once
#include <array>
#include <cstdint>
#include <utility>

namespace monomorph::cpu::MONOMORPH_ISA {

inline constexpr std::int64_t random_group = 64;  ///< words that are drawn together

/// 64 random words: lane l of the sixteen Philox counters (16 · group + l, c1, c2, c3) gives words l, 16 + l, 32 + l
/// and 48 + l, so that the sixteen are one vector.
static inline void random_words(const std::array<std::uint32_t, 2>& key, std::uint32_t group, std::uint32_t counter1,
                                std::uint64_t counter23, std::uint32_t* words) {
  const std::uint32_t key0 = key[0], key1 = key[1];
  const auto counter2 = static_cast<std::uint32_t>(counter23), counter3 = static_cast<std::uint32_t>(counter23 >> 32);
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    std::uint32_t c0 = group * 16 + lane, c1 = counter1, c2 = counter2, c3 = counter3;
    const auto round = [&](std::uint32_t number) {
      const std::uint64_t product0 = 0xD2511F53ull * c0, product1 = 0xCD9E8D57ull * c2;
      c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ (key0 + number * 0x9E3779B9u);
      c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ (key1 + number * 0xBB67AE85u);
      c1 = static_cast<std::uint32_t>(product1);
      c3 = static_cast<std::uint32_t>(product0);
    };
    [&]<std::uint32_t... number>(std::integer_sequence<std::uint32_t, number...>) { (round(number), ...); }
    (std::make_integer_sequence<std::uint32_t, 10>{});
    words[lane] = c0;
    words[16 + lane] = c1;
    words[32 + lane] = c2;
    words[48 + lane] = c3;
  }
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
