#pragma once
#include <monomorph/spec/layout.hpp>

namespace monomorph {

/// Where the bytes of a matrix in NF4 with double quantisation lie in a buffer of bytes (Dettmers et al. 2023). Of its
/// elements, row by row, a block has a scale, and as many scales as a nested block holds have one of their own.
struct Nf4Places {
  static constexpr std::int64_t block = 64, nested_block = 256;
  Slice codes;          ///< two to a byte, the first in the high bits
  Slice absmax;         ///< one byte of each block
  Slice nested_absmax;  ///< in fp32, one of each nested block
  Slice offset;         ///< in fp32, what all scales are above

  constexpr Nf4Places() = default;
  /// @param elements a multiple of a block
  constexpr Nf4Places(Layout& bytes, std::int64_t elements)
      : codes(bytes.take({1, elements / 2})),
        absmax(bytes.take({1, elements / block})),
        nested_absmax(bytes.take({1, (elements / block + nested_block - 1) / nested_block * fp32_bytes})),
        offset(bytes.take({1, fp32_bytes})) {}

 private:
  static constexpr std::int64_t fp32_bytes = 4;
};

}  // namespace monomorph
