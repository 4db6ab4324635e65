#pragma once
#include <monomorph/run.hpp>

namespace recipes {

// said: 9: error: .SPEC-03. eps must be a field of monomorph::NormSpec; did you mean epsilon
struct misspelt_nested_field {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 32, .norm = {.eps = 1e-6}};
};

}  // namespace recipes
