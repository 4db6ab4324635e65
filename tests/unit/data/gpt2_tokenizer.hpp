#pragma once
#include "data_test_support.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

/// GPT-2's published tokeniser, read once.
inline const monomorph::data::Tokenizer& gpt2() {
  using namespace monomorph::data;
  static const Tokenizer tokenizer(read_tokenizer_definition(fixture("gpt2_tokenizer.json")));
  return tokenizer;
}
