#pragma once
#include "data/tokenizer/added_token_search.hpp"
#include "data/tokenizer/decoder_chain.hpp"
#include "data/tokenizer/model.hpp"
#include "data/tokenizer/normalizer_chain.hpp"
#include "data/tokenizer/pre_tokenizer_chain.hpp"

#include <array>

namespace monomorph::data {

/// What Encoder and StreamDecoder work with, in the order in which a text passes through it. Shared by threads.
struct TokenizerParts {
  AddedTokenSearch raw_tokens;         ///< those found in the text as it is
  NormalizerChain normalizers;         ///< changes what lies between them
  AddedTokenSearch normalized_tokens;  ///< those found after that
  PreTokenizerChain pre_tokenizers;    ///< cuts the rest into pieces
  Model model;                         ///< turns a piece into ids
  DecoderChain decoders;               ///< turns tokens back into text
  bool decidable_early = false;        ///< the ids of a text's beginning can be known before its end
};

}  // namespace monomorph::data
