#include "data/training/word_cutter.hpp"

#include "data/text/word_scanner.hpp"

#include <monomorph/core/error.hpp>

namespace monomorph::data {
namespace {

PreTokenizerChain chain_of(const std::vector<PreTokenizer>& pre_tokenizers) {
  try {
    return PreTokenizerChain(pre_tokenizers, PreTokenizerChain::Alphabet::bytes);
  } catch (const UsageError& error) {
    throw UsageError(error.id(), std::string(error.text()) + " (given with --pattern)");
  }
}

}  // namespace

WordCutter::WordCutter(const std::vector<PreTokenizer>& pre_tokenizers) {
  if (!ends_in_byte_level(pre_tokenizers)) {
    throw UsageError("TOK-05",
                     "a byte-level tokenizer is trained, but its last pre-tokenizer is not ByteLevel; add one");
  }
  const auto words = as_byte_level_words(pre_tokenizers);
  if (words && !words->add_prefix_space) {
    way_ = words->pattern;
  } else {
    way_ = chain_of(pre_tokenizers);
  }
}

void WordCutter::count_words(std::string_view text, WordCounts& counts) const {
  if (const auto* chain = std::get_if<PreTokenizerChain>(&way_)) {
    PieceList list(TextInWork{std::string(text)});
    chain->apply(list);
    for (const TextSpan span : list.pieces) counts.add(list.piece(span), list.text.data() + list.text.size());
    return;
  }
  with_pattern(std::get<WordPattern>(way_), [&]<WordPattern pattern>() {
    TextScanner scanner(text.data() + text.size());
    for (const char* position = text.data(); position != scanner.end();) {
      const char* end = word_end<pattern>(scanner, position);
      counts.add({position, static_cast<std::size_t>(end - position)}, scanner.end());
      position = end;
    }
  });
}

}  // namespace monomorph::data
