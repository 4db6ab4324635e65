#pragma once
#include <monomorph/data/bpe/merge_joints.hpp>
#include <monomorph/data/bpe/merge_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// The rules of byte-pair encoding by pair, in 8 bytes for each place, so that those of a large vocabulary stay near
/// the processor. The rank of a rule is its place among all: lower ranks first.
class MergeTable {
 public:
  static constexpr unsigned id_bits = 21, rank_bits = 22;
  static constexpr std::uint32_t no_rank = (1u << rank_bits) - 1;

  /// @param rules by rank; of a pair that is given twice the later counts
  /// @throws [TOK-60] if an id or a rank is too large
  explicit MergeTable(std::span<const MergeRule> rules = {});

  /// `no_rank` if there is no rule for the pair.
  std::uint32_t rank_of(TokenPair pair) const {
    const std::uint64_t key = key_of(pair);
    for (std::size_t index = index_of(key);; index = (index + 1) & mask_) {
      const std::uint64_t slot = slots_[index];
      if (slot >> rank_bits == key || slot == free_slot) return static_cast<std::uint32_t>(slot & no_rank);
    }
  }

  std::size_t size() const { return tokens_.size(); }

  const MergeJoints& joints() const { return joints_; }

  std::int32_t token_of(std::uint32_t rank) const {
    return consecutive_ ? first_token_ + static_cast<std::int32_t>(rank) : tokens_[rank];
  }

 private:
  // A slot without a rule, whose rank is no_rank.
  static constexpr std::uint64_t free_slot = ~std::uint64_t{0};

  static std::uint64_t key_of(TokenPair pair) {
    return static_cast<std::uint64_t>(pair.left) << id_bits | static_cast<std::uint64_t>(pair.right);
  }
  std::size_t index_of(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }

  MergeJoints joints_;
  std::vector<std::uint64_t> slots_;  ///< the pair and the rank
  std::size_t mask_;
  unsigned shift_;
  std::vector<std::int32_t> tokens_;  ///< by rank
  // Most vocabularies number the tokens of merges one after the other. Then a rank gives its token without a look into
  // memory.
  std::int32_t first_token_ = 0;
  bool consecutive_ = true;
};

}  // namespace monomorph::data
