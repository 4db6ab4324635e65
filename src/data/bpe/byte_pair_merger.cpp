#include <monomorph/data/bpe/byte_pair_merger.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

// Words beyond this are rare, so the memory that one took is given back.
constexpr std::size_t most_kept = std::size_t{1} << 16;

}  // namespace

void BytePairMerger::merge(std::vector<std::int32_t>& tokens, std::size_t begin) {
  auto left = std::span(tokens).subspan(begin);
  std::size_t end = begin;
  while (!left.empty()) {
    const std::span<std::int32_t> part = left.first(part_length(left));
    const std::size_t n_merged = merge_part(part);
    std::copy_n(part.begin(), n_merged, tokens.begin() + static_cast<std::ptrdiff_t>(end));
    end += n_merged;
    left = left.subspan(part.size());
  }
  tokens.resize(end);
}

std::size_t BytePairMerger::part_length(std::span<const std::int32_t> tokens) const {
  if (tokens.size() <= most_short) return tokens.size();
  std::size_t length = 1;
  while (length < tokens.size() && merges_.joints().may_join({tokens[length - 1], tokens[length]})) ++length;
  return length;
}

std::size_t BytePairMerger::merge_part(std::span<std::int32_t> part) {
  if (part.size() > most_short) return merge_long(part);
  std::uint32_t ranks[most_short];
  for (std::size_t i = 0; i + 1 < part.size(); ++i) ranks[i] = merges_.rank_of({part[i], part[i + 1]});
  return merge_short(part, ranks);
}

// A scan over all pairs for each merge. A pair is one number, its rank and its place, so that the least of them is the
// leftmost of the lowest rank. Tokens stay where they are; one that was merged into its left neighbour is passed over.
std::size_t BytePairMerger::merge_short(std::span<std::int32_t> tokens, std::uint32_t* ranks) const {
  constexpr unsigned place_bits = 5;
  static_assert(most_short == 1u << place_bits && MergeTable::rank_bits + place_bits < 32);
  constexpr std::uint32_t none = MergeTable::no_rank << place_bits;
  const std::size_t size = tokens.size();
  if (size < 2) return size;
  std::uint8_t next[most_short + 1], previous[most_short + 1];
  for (std::size_t i = 0; i < size; ++i) {
    next[i] = static_cast<std::uint8_t>(i + 1);
    previous[i + 1] = static_cast<std::uint8_t>(i);
  }
  for (std::size_t i = 0; i + 1 < size; ++i)
    ranks[i] = ranks[i] << place_bits | static_cast<std::uint32_t>(i);  // NOLINT: the caller has filled them
  ranks[size - 1] = none;
  const auto look_up = [&](std::size_t at) {
    ranks[at] = next[at] == size
                    ? none
                    : merges_.rank_of({tokens[at], tokens[next[at]]}) << place_bits | static_cast<std::uint32_t>(at);
  };
  std::size_t n_left = size;
  for (;;) {
    std::uint32_t best = none;
    for (std::size_t i = 0; i < size; ++i) best = std::min(best, ranks[i]);
    if (best >= none) break;
    const std::size_t at = best & (most_short - 1), gone = next[at];
    tokens[at] = merges_.token_of(best >> place_bits);
    ranks[gone] = none;
    next[at] = next[gone];
    previous[next[at]] = static_cast<std::uint8_t>(at);
    --n_left;
    look_up(at);
    if (at > 0) look_up(previous[at]);
  }
  for (std::size_t i = 0, at = 0; i < n_left; ++i, at = next[at]) tokens[i] = tokens[at];
  return n_left;
}

// Tokens stay where they are, as in merge_short. The places of a token behind its first one are free: where there are
// any, the first and the last of them hold its length, turned over, so that both neighbours are found.
std::size_t BytePairMerger::merge_long(std::span<std::int32_t> word) {
  if (!pairs_) pairs_.emplace(merges_.size());
  pairs_->resize(word.size());
  const auto length_of = [&](std::size_t place) {
    return word[place] < 0 ? static_cast<std::size_t>(~word[place]) : 1;
  };
  const auto behind = [&](std::size_t at) { return at + 1 < word.size() ? at + length_of(at + 1) : word.size(); };
  // Every pair that can be merged is in the queue, so that its tokens tell whether it is, and its rank.
  const auto with_rank = [&](std::size_t at, std::size_t next, auto&& change) {
    const std::uint32_t rank = merges_.rank_of({word[at], word[next]});
    if (rank != MergeTable::no_rank) change(rank, at);
  };
  const auto add = [&](std::size_t at, std::size_t next) {
    with_rank(at, next, [&](std::uint32_t rank, std::size_t place) { pairs_->add(rank, place); });
  };
  const auto remove = [&](std::size_t at, std::size_t next) {
    with_rank(at, next, [&](std::uint32_t rank, std::size_t place) { pairs_->remove(rank, place); });
  };
  for (std::size_t at = 0; at + 1 < word.size(); ++at) add(at, at + 1);
  while (!pairs_->empty()) {
    const auto [rank, at] = pairs_->take();
    const std::size_t gone = behind(at), next = behind(gone);
    if (next < word.size()) remove(gone, next);
    const std::size_t previous = at > 0 ? at - length_of(at - 1) : at;
    if (at > 0) remove(previous, at);
    word[at] = merges_.token_of(rank);
    word[at + 1] = word[next - 1] = ~static_cast<std::int32_t>(next - at);
    if (next < word.size()) add(at, next);  // before the pair on its left, which then is the list's beginning
    if (at > 0) add(previous, at);
  }
  std::size_t n_left = 0;
  for (std::size_t at = 0, next = 0; at < word.size(); at = next) {
    next = behind(at);
    word[n_left++] = word[at];
  }
  if (word.size() > most_kept) pairs_->give_back();
  return n_left;
}

}  // namespace monomorph::data
