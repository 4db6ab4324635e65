#pragma once
#include "data/tokenizer/stages/piece_list.hpp"

#include <monomorph/data/text/word_pattern.hpp>

#include <optional>
#include <variant>
#include <vector>

namespace monomorph::data {

/// The pre-tokenizers of a tokenizer, one after the other. Immutable; threads may share one.
class PreTokenizerChain {
 public:
  /// What becomes of the bytes of a piece that ends up in the byte-level alphabet.
  enum class Alphabet {
    characters,  ///< they are written in it, as the package does
    bytes,       ///< they stay, for a model that knows them: only if ends_in_byte_level()
  };

  PreTokenizerChain() = default;
  /// @throws [TOK-02], [TOK-10] for a pattern
  PreTokenizerChain(const std::vector<PreTokenizer>& pre_tokenizers, Alphabet alphabet);

  /// Cuts the pieces of `list`, valid UTF-8.
  void apply(PieceList& list) const;

 private:
  struct Split {
    std::variant<TextMatcher, WordPattern> pattern;
    pre_tokenizers::Behavior behavior;
    bool invert;
  };
  using Step = std::variant<pre_tokenizers::ByteLevel, Split, pre_tokenizers::Digits, pre_tokenizers::Metaspace,
                            pre_tokenizers::Whitespace, pre_tokenizers::WhitespaceSplit, pre_tokenizers::Punctuation,
                            pre_tokenizers::Bert, pre_tokenizers::CharDelimiterSplit>;

  static Step prepare(const PreTokenizer& pre_tokenizer);
  static void split(const Split& split, PieceList& list);
  void byte_level(const pre_tokenizers::ByteLevel& settings, bool is_last, PieceList& list) const;

  std::vector<Step> steps_;
  Alphabet alphabet_ = Alphabet::characters;
};

/// The last of the pre-tokenizers is ByteLevel.
bool ends_in_byte_level(const std::vector<PreTokenizer>& pre_tokenizers);

/// Cutting at the words of a pattern for which there is a scanner, then ByteLevel: what most byte-level tokenizers do.
struct ByteLevelWords {
  WordPattern pattern;
  bool add_prefix_space;
};
/// Nothing if the pre-tokenizers do something else.
std::optional<ByteLevelWords> as_byte_level_words(const std::vector<PreTokenizer>& pre_tokenizers);

}  // namespace monomorph::data
