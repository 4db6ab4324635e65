#include <monomorph/data/byte_pair_merger.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

// The order of the heap: its top is what no other comes before.
constexpr auto comes_later = [](const auto& a, const auto& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
};

}  // namespace

void BytePairMerger::merge(std::vector<std::int32_t>& tokens, std::size_t begin) {
  const std::size_t size = tokens.size() - begin;
  if (size > most_short) return merge_by_heap(tokens, begin);
  const auto word = std::span(tokens).subspan(begin);
  std::uint32_t ranks[most_short];
  for (std::size_t i = 0; i + 1 < size; ++i) ranks[i] = merges_.rank_of({word[i], word[i + 1]});
  tokens.resize(begin + merge_short(word, ranks));
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
  for (std::size_t i = 0; i + 1 < size; ++i) ranks[i] = ranks[i] << place_bits | static_cast<std::uint32_t>(i);
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

void BytePairMerger::push_candidate(std::int32_t position) {
  const Symbol& symbol = symbols_[static_cast<std::size_t>(position)];
  if (symbol.next < 0) return;
  const std::uint32_t rank = merges_.rank_of({symbol.token, symbols_[static_cast<std::size_t>(symbol.next)].token});
  if (rank == MergeTable::no_rank) return;
  heap_.push_back({rank, position});
  std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

void BytePairMerger::merge_by_heap(std::vector<std::int32_t>& tokens, std::size_t begin) {
  const auto size = static_cast<std::int32_t>(tokens.size() - begin);
  symbols_.clear();
  heap_.clear();
  for (std::int32_t i = 0; i < size; ++i) {
    symbols_.push_back({tokens[begin + static_cast<std::size_t>(i)], i - 1, i + 1 < size ? i + 1 : -1, true});
  }
  for (std::int32_t i = 0; i < size; ++i) push_candidate(i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    const Candidate top = heap_.back();
    heap_.pop_back();
    Symbol& left = symbols_[static_cast<std::size_t>(top.position)];
    if (!left.alive || left.next < 0) continue;
    Symbol& right = symbols_[static_cast<std::size_t>(left.next)];
    if (merges_.rank_of({left.token, right.token}) != top.rank) continue;  // a neighbour was merged since
    left.token = merges_.token_of(top.rank);
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0) symbols_[static_cast<std::size_t>(left.next)].previous = top.position;
    if (left.previous >= 0) push_candidate(left.previous);
    push_candidate(top.position);
  }
  tokens.resize(begin);
  for (const Symbol& symbol : symbols_) {
    if (symbol.alive) tokens.push_back(symbol.token);
  }
}

}  // namespace monomorph::data
