#pragma once
#include <cstdint>

namespace monomorph {

/// New tokens of one sequence or of several, and where a cache has the tokens before them. A cache's rows are cut into
/// pages of equal length, and a sequence has as many of them as its tokens fill, wherever they lie
/// (docs/why/paged_cache.md). All arrays are in the host's memory; a kernel that runs later than it is called copies
/// them when it is called.
struct PagedTokens {
  static constexpr std::int64_t page = 16;  ///< tokens

  std::int64_t tokens = 0;  ///< new ones, each a row of what kernels are given; those of a sequence follow one another
  /// By new token, the row in which its sequence would begin if all of it were there: its own row less its position.
  /// Negative where tokens before are in the cache alone.
  const std::int32_t* origins_B = nullptr;
  const std::int32_t* sequences_B = nullptr;  ///< by new token, the row of `pages_SP` that is its sequence's
  const std::int32_t* pages_SP = nullptr;     ///< by sequence, the pages that hold its tokens, in their order
  std::int64_t sequences = 0, pages_per_sequence = 0;
  /// Every sequence begins with its new tokens: nothing of them is in the cache yet.
  bool from_beginning = false;

  // Inlined everywhere, as kernels that are compiled for several instruction sets may share no function.
  [[gnu::always_inline]] constexpr std::int64_t position(std::int64_t token) const { return token - origins_B[token]; }
  /// The cache's row of a place in a new token's sequence.
  [[gnu::always_inline]] constexpr std::int64_t row(std::int64_t token, std::int64_t place) const {
    return std::int64_t{pages_SP[sequences_B[token] * pages_per_sequence + place / page]} * page + place % page;
  }
};

}  // namespace monomorph
