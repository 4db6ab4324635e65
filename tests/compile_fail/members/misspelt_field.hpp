#pragma once
#include <monomorph/run.hpp>

namespace recipes {

// said: 9: error: .SPEC-03. n_layer must be a field of monomorph::DecoderSpec; did you mean n_layers
struct misspelt_field {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layer = 2, .n_heads = 4, .d_model = 64, .context_length = 32};
};

}  // namespace recipes
