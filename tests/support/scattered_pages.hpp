#pragma once
#include <monomorph/runtime/kernels/paged_tokens.hpp>

#include <cstdint>
#include <vector>

namespace monomorph::testing {

/// Sequences of so many tokens, of which the last few are new: all of the first, one of the second, and so on. Their
/// pages are not in order, and some of the cache is nobody's.
struct ScatteredPages {
  std::int64_t pages_per_sequence, n_pages;
  std::vector<std::int32_t> origins, sequences, pages;

  ScatteredPages(std::int64_t n_sequences, std::int64_t length)
      : pages_per_sequence((length + PagedTokens::page - 1) / PagedTokens::page),
        n_pages(n_sequences * pages_per_sequence + 2) {
    for (std::int64_t i = 0; i < n_sequences * pages_per_sequence; ++i)
      pages.push_back(static_cast<std::int32_t>(n_pages - 1 - (i ^ 1)));
    for (std::int64_t sequence = 0; sequence < n_sequences; ++sequence)
      for (std::int64_t position = sequence % 2 == 0 ? 0 : length - 1; position < length; ++position) {
        origins.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(origins.size()) - position));
        sequences.push_back(static_cast<std::int32_t>(sequence));
      }
  }

  std::int64_t cache_rows() const { return n_pages * PagedTokens::page; }
  PagedTokens tokens() const {
    return {.tokens = static_cast<std::int64_t>(origins.size()),
            .origins_B = origins.data(),
            .sequences_B = sequences.data(),
            .pages_SP = pages.data(),
            .sequences = static_cast<std::int64_t>(pages.size()) / pages_per_sequence,
            .pages_per_sequence = pages_per_sequence};
  }
};

}  // namespace monomorph::testing
