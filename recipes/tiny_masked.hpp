#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// A tiny Llama that sees the whole row and predicts tokens that are hidden from it, for tests.
struct tiny_masked : tiny_llama {
  static constexpr monomorph::DecoderSpec model = [] {
    monomorph::DecoderSpec model = tiny_llama::model;
    model.vocab_size = 513;
    return model;
  }();
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<512>;  // an id behind those of the tokenizer
  static constexpr monomorph::Expect expect{.params = 164'288};
};

}  // namespace recipes
