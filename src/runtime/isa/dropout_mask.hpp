#pragma once
#include <cstdint>
#include <utility>
#include "runtime/dropout_stream.hpp"

namespace monomorph::kernels::MONOMORPH_ISA {

inline constexpr std::int64_t mask_group = 64;  ///< features of one position that are drawn together

/// 64 random words: lane l of the sixteen Philox counters (16 · group + l, position, sample) gives words l, 16 + l, 32
/// + l and 48 + l, so that the sixteen are one vector.
static inline void mask_words(const detail::DropoutStream& stream, std::uint64_t sample, std::uint32_t position,
                              std::uint32_t group, std::uint32_t* words) {
  const std::uint32_t key0 = stream.key[0], key1 = stream.key[1];
  const auto sample_low = static_cast<std::uint32_t>(sample), sample_high = static_cast<std::uint32_t>(sample >> 32);
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    std::uint32_t c0 = group * 16 + lane, c1 = position, c2 = sample_low, c3 = sample_high;
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

/// factor[i] = 0 or 1 / (1 - rate) for features first … first + n - 1 of one position of one sample.
template <class S>
static void draw_mask(const detail::DropoutStream& stream, std::uint64_t sample, std::int64_t position,
                      std::int64_t first, std::int64_t n, S* factor) {
  const S kept = static_cast<S>(stream.kept_factor);
  alignas(64) std::uint32_t words[mask_group];
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t feature = first + i, skip = feature % mask_group;
    const std::int64_t take = mask_group - skip < n - i ? mask_group - skip : n - i;
    mask_words(stream, sample, static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(feature / mask_group),
               words);
    for (std::int64_t j = 0; j < take; ++j) factor[i + j] = words[skip + j] < stream.drop_below ? S(0) : kept;
    i += take;
  }
}

}  // namespace monomorph::kernels::MONOMORPH_ISA
