#pragma once
#include <cstdint>
#include "runtime/isa/vector_math.hpp"
#include "runtime/kernels/dropout_stream.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {

/// factor[i] = 0 or 1 / (1 - rate) for features first … first + n - 1 of one position of one sample.
template <class S>
static void draw_mask(const detail::DropoutStream& stream, std::uint64_t sample, std::int64_t position,
                      std::int64_t first, std::int64_t n, S* factor) {
  const S kept = static_cast<S>(stream.kept_factor);
  alignas(64) std::uint32_t words[random_group];
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t feature = first + i, skip = feature % random_group;
    const std::int64_t take = random_group - skip < n - i ? random_group - skip : n - i;
    random_words(stream.key, static_cast<std::uint32_t>(feature / random_group), static_cast<std::uint32_t>(position),
                 sample, words);
    for (std::int64_t j = 0; j < take; ++j) factor[i + j] = words[skip + j] < stream.drop_below ? S(0) : kept;
    i += take;
  }
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
