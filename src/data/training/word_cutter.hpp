#pragma once
#include "data/tokenizer/stages/pre_tokenizer_chain.hpp"

#include <monomorph/data/bpe/word_counts.hpp>

#include <string_view>
#include <variant>

namespace monomorph::data {

/// Cuts texts into the words that a byte-level tokenizer is trained on. Immutable; threads may share one.
class WordCutter {
 public:
  /// @throws [TOK-05] if the last of the pre-tokenizers is not ByteLevel; [TOK-02], [TOK-10] for a pattern
  explicit WordCutter(const std::vector<PreTokenizer>& pre_tokenizers);

  /// @param text valid UTF-8  @throws [TOK-11]
  void count_words(std::string_view text, WordCounts& counts) const;

 private:
  std::variant<WordPattern, PreTokenizerChain> way_;
};

}  // namespace monomorph::data
