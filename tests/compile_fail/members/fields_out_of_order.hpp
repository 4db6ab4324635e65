#pragma once
#include <monomorph/run.hpp>

namespace recipes {

// said: 9: error: .SPEC-04. fields must be given in the order of their declaration, and n_(layers|heads) is not
struct fields_out_of_order {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_heads = 4, .n_layers = 2, .d_model = 64, .context_length = 32};
};

}  // namespace recipes
