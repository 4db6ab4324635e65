#pragma once
#include <monomorph/data/merge_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// Applies merges to words. Keeps its working memory from word to word; one per thread.
class BytePairMerger {
 public:
  explicit BytePairMerger(const MergeTable& merges) : merges_(merges) {}

  /// Merges the tokens from `begin` to the end of `tokens` in place: again and again the pair of lowest rank, the
  /// leftmost of equals. Takes n log n steps for n tokens.
  void merge(std::vector<std::int32_t>& tokens, std::size_t begin);

  static constexpr std::size_t most_short = 32;

  /// The same for up to `most_short` tokens, where it is quicker. Returns how many are left.
  /// @param ranks of each token and the next one, as MergeTable::rank_of finds them; changed
  std::size_t merge_short(std::span<std::int32_t> tokens, std::uint32_t* ranks) const;

 private:
  struct Symbol {
    std::int32_t token;
    std::int32_t previous, next;  ///< indices; -1 at the ends
    bool alive;
  };
  struct Candidate {
    std::uint32_t rank;
    std::int32_t position;
  };

  void merge_by_heap(std::vector<std::int32_t>& tokens, std::size_t begin);
  void push_candidate(std::int32_t position);

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace monomorph::data
