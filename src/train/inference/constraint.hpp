#pragma once
#include "train/inference/grammar_walk.hpp"
#include "train/inference/token_trie.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace monomorph::train {

/// A bit for each token: whether it may be next.
class TokenSet {
 public:
  explicit TokenSet(std::size_t n_ids) : words_((n_ids + 63) / 64) {}
  void add(std::int32_t id) { words_[word(id)] |= bit(id); }
  void remove(std::int32_t id) { words_[word(id)] &= ~bit(id); }
  bool has(std::int32_t id) const { return (words_[word(id)] & bit(id)) != 0; }
  void add_all(const TokenSet& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  bool empty() const;
  /// Gives the tokens that may not be next a logit of minus infinity.
  void mask(std::span<float> logits) const;

 private:
  static std::size_t word(std::int32_t id) { return static_cast<std::size_t>(id) / 64; }
  static std::uint64_t bit(std::int32_t id) { return std::uint64_t{1} << (id % 64); }

  std::vector<std::uint64_t> words_;
};

/// A tokeniser's vocabulary as constraints see it. Threads may share one.
class ConstrainedVocabulary {
 public:
  /// @param stop_ids what ends a text, and nothing else does
  ConstrainedVocabulary(const data::Tokenizer& tokenizer, std::vector<std::int32_t> stop_ids);

  /// Whether the texts of tokens, one behind the other, can be any JSON at all.
  bool spells_json() const { return trie_.spells_everything(); }
  std::size_t n_ids() const { return texts_.size(); }
  const std::string& text(std::int32_t id) const { return texts_[static_cast<std::size_t>(id)]; }
  std::span<const std::int32_t> stop_ids() const { return stop_ids_; }
  std::span<const std::int32_t> special_ids() const { return special_ids_; }
  const TokenTrie& trie() const { return trie_; }

  /// What may be next within a string, between two characters. That is most of a vocabulary, and the same in every text
  /// but for what tokens go on with behind the string's end: nodes below `exits`.
  struct WithinString {
    struct Counted {
      std::int64_t characters;  ///< complete or begun
      std::size_t at;           ///< an id, or a node
    };
    TokenSet tokens;             ///< that stay within the string, or end with it
    TokenSet open;               ///< that stay within it
    std::vector<Counted> ids;    ///< of those, by falling numbers
    std::vector<Counted> exits;  ///< nodes where the string ends
  };
  /// Null if the node of a grammar is not one where strings of any length go on.
  const WithinString* within_string(std::int32_t node) const;
  const WithinString& within_string() const { return within_.begin()->second; }

 private:
  void add_within(const ByteGrammar& grammar, std::int32_t node);

  std::vector<std::string> texts_;  ///< by id; "" for what is no text
  std::vector<std::int32_t> stop_ids_, special_ids_;
  TokenTrie trie_;
  std::map<std::int32_t, WithinString> within_;
};

/// The vocabulary of a tokeniser, made when it is needed first. Threads may share one.
class VocabularyOnDemand {
 public:
  std::shared_ptr<const ConstrainedVocabulary> of(const data::Tokenizer& tokenizer,
                                                  const std::vector<std::int32_t>& stop_ids) {
    std::call_once(made_, [&] { vocabulary_ = std::make_shared<const ConstrainedVocabulary>(tokenizer, stop_ids); });
    return vocabulary_;
  }

 private:
  std::once_flag made_;
  std::shared_ptr<const ConstrainedVocabulary> vocabulary_;
};

/// What texts must be. Threads may share one.
struct Constraint {
  Constraint(std::shared_ptr<const ConstrainedVocabulary> given, ByteGrammar made)
      : vocabulary(std::move(given)), grammar(std::move(made)) {}

  std::shared_ptr<const ConstrainedVocabulary> vocabulary;
  ByteGrammar grammar;
};

/// Where bytes lead in a grammar from places that texts have been at, each way found once however often it is gone:
/// behind the end of a string thousands of tokens go on with the same few bytes, and so do numbers with any digits.
class KnownWays {
 public:
  using Place = GrammarWalk::Place;
  static constexpr std::int32_t nowhere = -1;

  explicit KnownWays(GrammarWalk& walk) : walk_(walk) {}
  /// The number of a set of places; `nowhere` if it is empty.
  std::int32_t state_of(std::vector<Place> places);
  std::int32_t step(std::int32_t state, std::uint8_t byte) {
    const std::int32_t known = ways_[static_cast<std::size_t>(state)][byte];
    return known != unknown ? known : find(state, byte);
  }
  std::size_t size() const { return ways_.size(); }
  void clear();

 private:
  static constexpr std::int32_t unknown = -2;

  std::int32_t find(std::int32_t state, std::uint8_t byte);

  GrammarWalk& walk_;
  std::map<std::vector<Place>, std::int32_t> states_;
  std::vector<const std::vector<Place>*> places_;      ///< by state
  std::vector<std::array<std::int32_t, 256>> ways_{};  ///< by state and byte
};

/// How far one text has come in what it must be.
class ConstrainedText {
 public:
  static constexpr std::int64_t usual_work = 1 << 23;  ///< a tenth of a second

  /// @param most_work places that may be looked at for one token
  explicit ConstrainedText(std::shared_ptr<const Constraint> constraint, std::int64_t most_work = usual_work);
  ConstrainedText(const ConstrainedText&) = delete;

  /// The tokens that may be next; those that end the text, where it is complete.   @throws Error [SERVE-05] there are
  /// too many ways to go on
  const TokenSet& allowed();
  /// @param id of a token that may be next
  void accept(std::int32_t id);
  bool complete() const { return walk_.complete(places_); }
  /// Whether it is complete, and nothing can follow.
  bool ended() const;

 private:
  using Place = GrammarWalk::Place;

  static constexpr std::size_t most_masks = 64, most_frames = 1 << 16;
  static constexpr std::size_t most_states = 1 << 11;  ///< that are kept from one token to the next
  static constexpr std::int64_t work_of_state = 64;    ///< one has a kilobyte

  TokenSet compute();
  std::int64_t work() const { return walk_.work() + work_of_state * static_cast<std::int64_t>(ways_.size()); }
  void check_work() const;
  void add_tokens_below(TokenSet& tokens, std::size_t first, std::size_t last, std::int32_t state);
  bool add_within_string(TokenSet& tokens, const Place& place);

  std::shared_ptr<const Constraint> constraint_;
  std::int64_t most_work_;
  GrammarWalk walk_;
  KnownWays ways_{walk_};
  std::vector<Place> places_;
  std::map<std::vector<Place>, TokenSet> masks_;
  std::int64_t work_before_ = 0;  ///< of the mask that is made
};

/// Adds to `tokens` those of a trie's nodes from `first` to `last`, all below one node, that a walk can go on with.
/// @param stack the places at that one node; more than these is taken off at the end
/// @param visit is called with each node that can be gone to, and the places there
template <class Visit>
void walk_trie(GrammarWalk& walk, const TokenTrie& trie, std::size_t first, std::size_t last,
               std::vector<GrammarWalk::Place>& stack, const Visit& visit) {
  if (first == last) return;
  const std::size_t depth = trie.depth(first), n_given = stack.size();
  std::vector<std::size_t> begins{0, n_given};  // of the places at each depth
  for (std::size_t node = first; node < last;) {
    const std::size_t level = trie.depth(node) - depth;
    begins.resize(level + 2);
    stack.resize(begins[level + 1]);
    walk.step(stack, begins[level], begins[level + 1], trie.byte(node));
    if (stack.size() == begins[level + 1]) {
      node = trie.end(node);
      continue;
    }
    begins.push_back(stack.size());
    visit(node, std::span<const GrammarWalk::Place>(stack).subspan(begins[level + 1]));
    ++node;
  }
  stack.resize(n_given);
}

}  // namespace monomorph::train
