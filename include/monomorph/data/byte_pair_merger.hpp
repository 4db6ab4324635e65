#pragma once
#include <monomorph/data/pair_table.hpp>

#include <cstdint>
#include <vector>

namespace monomorph::data {

/// What byte-pair encoding does with a pair: lower ranks first.
struct Merge {
  std::int32_t rank;
  std::int32_t token;  ///< what the pair becomes
};
using MergeTable = PairTable<Merge>;

/// Applies merges to words. Keeps its working memory from word to word; one per thread.
class BytePairMerger {
 public:
  explicit BytePairMerger(const MergeTable& merges) : merges_(merges) {}

  /// Merges the tokens from `begin` to the end of `tokens` in place: again and again the pair of lowest rank, the
  /// leftmost of equals. Takes n log n steps for n tokens.
  void merge(std::vector<std::int32_t>& tokens, std::size_t begin);

 private:
  struct Symbol {
    std::int32_t token;
    std::int32_t previous, next;  ///< indices; -1 at the ends
    bool alive;
  };
  struct Candidate {
    std::int32_t rank, position, token;
  };

  void merge_by_scanning(std::vector<std::int32_t>& tokens, std::size_t begin);
  void merge_by_heap(std::vector<std::int32_t>& tokens, std::size_t begin);
  void push_candidate(std::int32_t position);

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace monomorph::data
