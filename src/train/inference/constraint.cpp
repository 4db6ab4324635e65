#include "train/inference/constraint.hpp"

#include "train/inference/json_rules.hpp"

#include <monomorph/core/error.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace monomorph::train {
namespace {

/// What stands for nothing, or ends a text, has no text. A part of a character has its bytes.
std::vector<std::string> texts_of(const data::Tokenizer& tokenizer, std::span<const std::int32_t> stop_ids) {
  std::vector<std::string> texts(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.has_token(id) && !tokenizer.is_special(id) && std::ranges::find(stop_ids, id) == stop_ids.end())
      texts[static_cast<std::size_t>(id)] = tokenizer.bytes_of(id);
  return texts;
}

void add_tokens(TokenSet& tokens, const TokenTrie& trie, std::size_t node) {
  for (std::int32_t id = trie.token(node); id >= 0; id = trie.next_same(id)) tokens.add(id);
}

}  // namespace

bool TokenSet::empty() const {
  return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
}

void TokenSet::mask(std::span<float> logits) const {
  for (std::size_t first = 0; first < logits.size(); first += 64) {
    const std::uint64_t word = words_[first / 64];
    if (word == ~std::uint64_t{0}) continue;
    const std::size_t n = std::min<std::size_t>(64, logits.size() - first);
    for (std::size_t i = 0; i < n; ++i)
      if (((word >> i) & 1) == 0) logits[first + i] = -std::numeric_limits<float>::infinity();
  }
}

ConstrainedVocabulary::ConstrainedVocabulary(const data::Tokenizer& tokenizer, std::vector<std::int32_t> stop_ids)
    : texts_(texts_of(tokenizer, stop_ids)), stop_ids_(std::move(stop_ids)), trie_(texts_) {
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.is_special(id) && std::ranges::find(stop_ids_, id) == stop_ids_.end()) special_ids_.push_back(id);
  GrammarBuilder builder;
  const JsonRules rules(builder);
  const ByteGrammar grammar = std::move(builder).build(rules.value());
  add_within(grammar, rules.string());
  add_within(grammar, rules.plain_key());
}

/// A character begins with every byte between two, but for the quote that ends the string.
void ConstrainedVocabulary::add_within(const ByteGrammar& grammar, std::int32_t node) {
  WithinString& within =
      within_.try_emplace(node, WithinString{TokenSet(n_ids()), TokenSet(n_ids()), {}, {}}).first->second;
  GrammarWalk walk(grammar);
  struct Level {
    std::int64_t characters;
    bool between;
  };
  std::vector<Level> levels{{0, true}};
  std::vector<GrammarWalk::Place> stack{{node, 0}};
  walk_trie(walk, trie_, 0, trie_.size(), stack, [&](std::size_t at, std::span<const GrammarWalk::Place> places) {
    levels.resize(trie_.depth(at) + 1);
    const bool ends = walk.complete(places);
    const std::int64_t characters = levels.back().characters + (levels.back().between && !ends ? 1 : 0);
    levels.push_back({characters, places.front().node == node});
    if (ends) within.exits.push_back({characters, at});
    for (std::int32_t id = trie_.token(at); id >= 0; id = trie_.next_same(id)) {
      within.tokens.add(id);
      if (ends) continue;
      within.open.add(id);
      within.ids.push_back({characters, static_cast<std::size_t>(id)});
    }
  });
  std::ranges::stable_sort(within.ids, std::greater{}, &WithinString::Counted::characters);
}

const ConstrainedVocabulary::WithinString* ConstrainedVocabulary::within_string(std::int32_t node) const {
  const auto found = within_.find(node);
  return found == within_.end() ? nullptr : &found->second;
}

std::int32_t KnownWays::state_of(std::vector<Place> places) {
  if (places.empty()) return nowhere;
  const auto [known, is_new] = states_.try_emplace(std::move(places), static_cast<std::int32_t>(ways_.size()));
  if (is_new) {
    places_.push_back(&known->first);
    ways_.emplace_back().fill(unknown);
  }
  return known->second;
}

std::int32_t KnownWays::find(std::int32_t state, std::uint8_t byte) {
  std::vector<Place> places = *places_[static_cast<std::size_t>(state)];
  const std::size_t n = places.size();
  walk_.step(places, 0, n, byte);
  places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  const std::int32_t next = state_of(std::move(places));
  return ways_[static_cast<std::size_t>(state)][byte] = next;
}

/// The memory, too, is given back.
void KnownWays::clear() {
  states_.clear();
  places_ = {};
  ways_ = {};
}

ConstrainedText::ConstrainedText(std::shared_ptr<const Constraint> constraint, std::int64_t most_work)
    : constraint_(std::move(constraint)), most_work_(most_work), walk_(constraint_->grammar) {
  walk_.begin(places_);
}

const TokenSet& ConstrainedText::allowed() {
  const auto known = masks_.find(places_);
  if (known != masks_.end()) return known->second;
  if (masks_.size() == most_masks) masks_.clear();
  return masks_.emplace(places_, compute()).first->second;
}

void ConstrainedText::check_work() const {
  if (work() - work_before_ > most_work_)
    throw Error("SERVE-05",
                "what the text must be leaves too many ways to go on at once; let alternatives differ sooner");
}

/// Adds the tokens at a trie's nodes from `first` to `last`, all below one node, that go on from a state.
void ConstrainedText::add_tokens_below(TokenSet& tokens, std::size_t first, std::size_t last, std::int32_t state) {
  if (first == last || state == KnownWays::nowhere) return;
  const TokenTrie& trie = constraint_->vocabulary->trie();
  const std::size_t depth = trie.depth(first);
  std::vector<std::int32_t> states{state};
  for (std::size_t node = first; node < last;) {
    states.resize(trie.depth(node) - depth + 1);
    const std::int32_t next = ways_.step(states.back(), trie.byte(node));
    check_work();
    if (next == KnownWays::nowhere) {
      node = trie.end(node);
      continue;
    }
    add_tokens(tokens, trie, node);
    states.push_back(next);
    ++node;
  }
}

/// @return whether the place is one where a string goes on
bool ConstrainedText::add_within_string(TokenSet& tokens, const Place& place) {
  const ConstrainedVocabulary& vocabulary = *constraint_->vocabulary;
  const ByteGrammar::Node& node = constraint_->grammar.node(place.node);
  const auto* const any_length = vocabulary.within_string(place.node);
  if (place.frame == 0 || (any_length == nullptr && node.left < 0)) return false;
  const auto& within = any_length != nullptr ? *any_length : vocabulary.within_string();
  const std::int64_t needed = any_length != nullptr ? 0 : node.needed,
                     left = any_length != nullptr ? INT16_MAX : node.left;
  if (any_length != nullptr) {
    tokens.add_all(within.tokens);
  } else {
    TokenSet open = within.open;
    for (const auto& [characters, id] : within.ids) {
      if (characters <= left) break;
      open.remove(static_cast<std::int32_t>(id));
    }
    tokens.add_all(open);
  }
  const TokenTrie& trie = vocabulary.trie();
  std::vector<Place> behind;
  walk_.leave(behind, place.frame);
  const std::int32_t state = ways_.state_of(std::move(behind));
  for (const auto& [characters, exit] : within.exits) {
    if (characters < needed || characters > left) continue;
    add_tokens(tokens, trie, exit);
    add_tokens_below(tokens, exit + 1, trie.end(exit), state);
  }
  return true;
}

TokenSet ConstrainedText::compute() {
  const ConstrainedVocabulary& vocabulary = *constraint_->vocabulary;
  work_before_ = work();
  TokenSet tokens(vocabulary.n_ids());
  std::vector<Place> others;
  for (const Place& place : places_)
    if (!add_within_string(tokens, place)) others.push_back(place);
  add_tokens_below(tokens, 0, vocabulary.trie().size(), ways_.state_of(std::move(others)));
  if (ways_.size() > most_states) ways_.clear();
  if (complete())
    for (const std::int32_t id : vocabulary.stop_ids())
      if (id < static_cast<std::int32_t>(vocabulary.n_ids())) tokens.add(id);
  if (std::ranges::any_of(places_, [&](const Place& at) { return constraint_->grammar.node(at.node).free; }))
    for (const std::int32_t id : vocabulary.special_ids()) tokens.add(id);
  return tokens;
}

bool ConstrainedText::ended() const {
  return complete() && std::ranges::all_of(places_, [&](const Place& place) {
           return constraint_->grammar.bytes(place.node).empty();
         });
}

void ConstrainedText::accept(std::int32_t id) {
  for (const char byte : constraint_->vocabulary->text(id)) {
    const std::size_t n = places_.size();
    walk_.step(places_, 0, n, static_cast<std::uint8_t>(byte));
    places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (walk_.frames().size() > most_frames) {
    masks_.clear();
    ways_.clear();
    walk_.frames().keep_only(places_);
  }
}

}  // namespace monomorph::train
