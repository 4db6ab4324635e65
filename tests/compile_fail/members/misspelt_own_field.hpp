#pragma once
#include "support/own_spec.hpp"

namespace recipes {

// said: 10: error: .SPEC-03. transform_bia must be a field of own::Spec; did you mean transform_bias
struct misspelt_own_field {
  static constexpr own::Spec model{
      .decoder = {.vocab_size = 300, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 32},
      .transform_bia = false};
};

}  // namespace recipes
