#pragma once
#include "data/tokenizer/added_token_search.hpp"
#include "data/tokenizer/definition/vocabulary.hpp"
#include "data/tokenizer/model.hpp"
#include "data/tokenizer/stages/decoder_chain.hpp"
#include "data/tokenizer/stages/normalizer_chain.hpp"
#include "data/tokenizer/stages/pre_tokenizer_chain.hpp"
#include "data/tokenizer/text_cutter.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <optional>

namespace monomorph::data {

/// What Encoder and StreamDecoder work with, in the order in which a text passes through it.
struct TokenizerParts {
  /// @param definition must outlive it
  explicit TokenizerParts(const TokenizerDefinition& definition);
  TokenizerParts(const TokenizerParts&) = delete;

  /// The ids of a text's beginning can be known before its end.
  bool decides_early() const;
  /// What the decoders see of an added token.
  std::string content_to_decode(const AddedToken& token) const;

  Vocabulary vocabulary;                ///< of the model
  bool has_byte_level_model;            ///< pieces go to the model as bytes
  AddedTokenSearch raw_tokens;          ///< those found in the text as it is
  NormalizerChain normalizers;          ///< changes what lies between them
  AddedTokenSearch normalized_tokens;   ///< those found after that
  std::optional<ByteLevelWords> words;  ///< all that the pre-tokenizers do, if it is this and the model gets bytes
  PreTokenizerChain pre_tokenizers;     ///< cuts the rest into pieces
  Model model;                          ///< turns a piece into ids
  TextCutter cutter;                    ///< finds where a long text can be cut before all that
  DecoderChain decoders;                ///< turns tokens back into text

 private:
  void add_search_terms(const TokenizerDefinition& definition);
};

}  // namespace monomorph::data
