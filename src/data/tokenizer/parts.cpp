#include "data/tokenizer/parts.hpp"

#include "data/tokenizer/definition/inconsistency.hpp"

namespace monomorph::data {

TokenizerParts::TokenizerParts(const TokenizerDefinition& definition)
    : vocabulary(definition.vocabulary, std::holds_alternative<tokenizer_models::Unigram>(definition.model)),
      has_byte_level_model(ends_in_byte_level(definition.pre_tokenizers) &&
                           data::has_byte_level_model(definition, vocabulary)),
      normalizers(definition.normalizers),
      words(has_byte_level_model ? as_byte_level_words(definition.pre_tokenizers) : std::nullopt),
      pre_tokenizers(definition.pre_tokenizers, has_byte_level_model ? PreTokenizerChain::Alphabet::bytes
                                                                     : PreTokenizerChain::Alphabet::characters),
      model(make_model(definition, vocabulary, has_byte_level_model)),
      cutter(definition, normalizers, model),
      decoders(definition.decoders) {
  add_search_terms(definition);
}

void TokenizerParts::add_search_terms(const TokenizerDefinition& definition) {
  for (const AddedToken& token : definition.added_tokens) {
    if (!token.normalized) {
      raw_tokens.add(token.content, token);
      continue;
    }
    const std::string content = content_to_decode(token);
    if (content.empty())
      throw_inconsistent("the normalizers leave nothing of the added token {}", in_quotes(token.content));
    normalized_tokens.add(content, token);
  }
}

std::string TokenizerParts::content_to_decode(const AddedToken& token) const {
  if (!token.normalized) return token.content;
  TextInWork work{token.content};
  normalizers.apply(work);
  return work.text;
}

bool TokenizerParts::decides_early() const {
  return words && !words->add_prefix_space && normalizers.empty() && !raw_tokens.looks_around() &&
         !normalized_tokens.looks_around();
}

}  // namespace monomorph::data
