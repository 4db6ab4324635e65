#include "runtime/isa/rows.hpp"
#include "runtime/kernels/nf4_values.hpp"

#include <monomorph/spec/nf4_places.hpp>

namespace monomorph::cpu::MONOMORPH_ISA {

/// The elements of some blocks, of whose view `first` is the first one.
void dequantize_nf4_blocks(const std::uint8_t* codes, const float* absmax, std::int64_t n_blocks, View values,
                           std::int64_t first) {
  constexpr std::int64_t block = Nf4Places::block;
  in_compute_type(values.dtype, [&]<class S>() {
    alignas(64) S buffer[block];
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      const std::int64_t at = first + b * block;
      S* const to = place<S>(values, at, buffer);
      const float scale = absmax[b];
      for (std::int64_t i = 0; i < block / 2; ++i) {
        const std::uint8_t pair = codes[b * (block / 2) + i];
        to[2 * i] = static_cast<S>(nf4_values[pair >> 4] * scale);
        to[2 * i + 1] = static_cast<S>(nf4_values[pair & 15] * scale);
      }
      write<S>(to, values, at, block);
    }
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
