#include <monomorph/core/error.hpp>
#include <monomorph/data/bpe/merge_table.hpp>

#include <fmt/format.h>

#include <bit>

namespace monomorph::data {
namespace {

void check_limits(std::span<const MergeRule> rules) {
  constexpr std::int32_t most_ids = 1 << MergeTable::id_bits;
  bool fits = rules.size() <= MergeTable::no_rank;
  for (const MergeRule& rule : rules) {
    for (const std::int32_t id : {rule.pair.left, rule.pair.right, rule.token}) fits &= id >= 0 && id < most_ids;
  }
  if (fits) return;
  throw UsageError(
      "TOK-60",
      fmt::format("the tokenizer has {} merges, or merges ids outside 0 to {}: this is for up to {} merges and "
                  "such ids; give one with a smaller vocabulary",
                  rules.size(), most_ids - 1, static_cast<std::uint32_t>(MergeTable::no_rank)));
}

}  // namespace

MergeTable::MergeTable(std::span<const MergeRule> rules) : joints_((check_limits(rules), rules)) {
  const std::size_t n_slots = std::bit_ceil(2 * rules.size() + 2);
  slots_.assign(n_slots, free_slot);
  mask_ = n_slots - 1;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(n_slots));
  tokens_.reserve(rules.size());
  if (!rules.empty()) first_token_ = rules[0].token;
  for (const MergeRule& rule : rules) {
    const std::uint64_t key = key_of(rule.pair);
    std::size_t index = index_of(key);
    while (slots_[index] != free_slot && slots_[index] >> rank_bits != key) index = (index + 1) & mask_;
    consecutive_ &= rule.token - first_token_ == static_cast<std::int32_t>(tokens_.size());
    slots_[index] = key << rank_bits | tokens_.size();
    tokens_.push_back(rule.token);
  }
}

}  // namespace monomorph::data
