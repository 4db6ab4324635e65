#pragma once
#include <monomorph/run.hpp>

namespace recipes {

// C++ takes the value for that of the first field, here of qkv alone.
// said: 10: error: .SPEC-02. (a monomorph::BiasSpec|bias) must be given in braces
struct single_value_for_spec {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 32, .bias = false};
};

}  // namespace recipes
