#pragma once
#include <cstdint>

namespace monomorph {

/// The keys from `first` to the one before `end`, by their places in a row.
struct KeyRange {
  std::int64_t first, end;
};

/// Which keys a query sees: a range of them that holds the query itself. Neither end of it descends from one query to
/// the next, so what a tile of queries sees of a tile of keys follows from its first and last query
/// (docs/why/masks_are_ranges.md). The plan counts with it and every kernel of attention follows it.
struct AttentionMask {
  static constexpr std::int64_t unlimited = std::int64_t{1} << 40;  ///< more than any row has

  std::int64_t before = unlimited;  ///< as many keys before itself a query sees
  std::int64_t after = 0;           ///< and as many behind itself
  std::int64_t prefix = 0;          ///< every query sees as far ahead as the last of so many tokens at the beginning

  /// Of a query of the document, which is all of the row unless attention keeps within documents. Inlined everywhere,
  /// as kernels that are compiled for several instruction sets may share no function.
  [[gnu::always_inline]] constexpr KeyRange keys(std::int64_t query, KeyRange document) const {
    const std::int64_t first = query - before, own_end = query + after + 1, prefix_end = document.first + prefix;
    const std::int64_t end = own_end > prefix_end ? own_end : prefix_end;
    return {first > document.first ? first : document.first, end < document.end ? end : document.end};
  }

  /// Some query sees a key behind itself: what it becomes depends on tokens that come later.
  [[gnu::always_inline]] constexpr bool looks_ahead() const { return after > 0 || prefix > 1; }

  /// Pairs of a query and a key that it sees, in a row of n tokens that are one document.
  constexpr std::int64_t pairs(std::int64_t n) const {
    const std::int64_t in_prefix = prefix < n ? prefix : n;
    return n * n - up_to(n - 1 - before) - up_to(n - 1 - after) + up_to(in_prefix - 1 - after);
  }

  friend constexpr bool operator==(const AttentionMask&, const AttentionMask&) = default;

 private:
  /// 1 + 2 + … + n.
  static constexpr std::int64_t up_to(std::int64_t n) { return n > 0 ? n * (n + 1) / 2 : 0; }
};

}  // namespace monomorph
