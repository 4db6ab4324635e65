#include <monomorph/data/byte_pair_merger.hpp>

#include <algorithm>
#include <limits>

namespace monomorph::data {
namespace {

// Below this a scan over all pairs for each merge is quicker than keeping a heap.
constexpr std::size_t longest_scanned_word = 32;

// The order of the heap: its top is what no other comes before.
constexpr auto comes_later = [](const auto& a, const auto& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
};

}  // namespace

void BytePairMerger::merge(std::vector<std::int32_t>& tokens, std::size_t begin) {
  if (tokens.size() - begin <= longest_scanned_word) {
    merge_by_scanning(tokens, begin);
  } else {
    merge_by_heap(tokens, begin);
  }
}

void BytePairMerger::merge_by_scanning(std::vector<std::int32_t>& tokens, std::size_t begin) {
  constexpr Merge no_merge{std::numeric_limits<std::int32_t>::max(), -1};
  Merge of_pair[longest_scanned_word];  // of_pair[i]: the pair that begins at token i of the word
  std::int32_t* word = tokens.data() + begin;
  std::size_t size = tokens.size() - begin;
  const auto look_up = [&](std::size_t i) {
    const Merge* found = merges_.find({word[i], word[i + 1]});
    of_pair[i] = found ? *found : no_merge;
  };
  for (std::size_t i = 0; i + 1 < size; ++i) look_up(i);
  while (size > 1) {
    const Merge* best =
        std::min_element(of_pair, of_pair + size - 1, [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    if (best->token < 0) break;
    const auto at = static_cast<std::size_t>(best - of_pair);
    word[at] = best->token;
    std::copy(word + at + 2, word + size, word + at + 1);
    if (at + 2 < size) std::copy(of_pair + at + 2, of_pair + size - 1, of_pair + at + 1);
    --size;
    if (at > 0) look_up(at - 1);
    if (at + 1 < size) look_up(at);
  }
  tokens.resize(begin + size);
}

void BytePairMerger::push_candidate(std::int32_t position) {
  const Symbol& symbol = symbols_[static_cast<std::size_t>(position)];
  if (symbol.next < 0) return;
  const Merge* found = merges_.find({symbol.token, symbols_[static_cast<std::size_t>(symbol.next)].token});
  if (!found) return;
  heap_.push_back({found->rank, position, found->token});
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
    const Merge* merge = merges_.find({left.token, right.token});
    if (!merge || merge->token != top.token) continue;  // a neighbour was merged since
    left.token = top.token;
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
