#pragma once
#include <monomorph/data/bpe/merge_table.hpp>
#include <monomorph/data/bpe/pair_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::data {

/// Applies merges to words. Keeps its working memory from word to word; one per thread.
class BytePairMerger {
 public:
  explicit BytePairMerger(const MergeTable& merges) : merges_(merges) {}

  /// Merges the tokens from `begin` to the end of `tokens` in place: again and again the pair of lowest rank, the
  /// leftmost of equals. Takes a number of steps in proportion to that of the tokens, and 16 bytes
  /// for each token of the longest part that no merge joins to the rest.
  void merge(std::vector<std::int32_t>& tokens, std::size_t begin);

  static constexpr std::size_t most_short = 32;

  /// Does the same with up to `most_short` tokens, where it is quicker. Returns how many are left.
  /// @param ranks of each token and the next one, as MergeTable::rank_of finds them; changed
  std::size_t merge_short(std::span<std::int32_t> tokens, std::uint32_t* ranks) const;

 private:
  /// The number of tokens at the beginning of `tokens` that no merge joins to the rest; all of them if they are few.
  std::size_t part_length(std::span<const std::int32_t> tokens) const;
  // Both merge in place and return how many tokens are left.
  std::size_t merge_part(std::span<std::int32_t> part);
  std::size_t merge_long(std::span<std::int32_t> word);

  const MergeTable& merges_;
  std::optional<PairQueue> pairs_;  ///< made for the first long word
};

}  // namespace monomorph::data
