#pragma once
#include <array>
#include <monomorph/run.hpp>

namespace recipes {

/// Braces that are left out for another type are none of our business.
inline constexpr std::array<int, 2> pair{1, 2};

// said: 1[789]: error: .SPEC-02. (a monomorph::Llama3RotaryScaling|scaling) must be given in braces
struct single_value_for_nested_spec {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 300,
                                                .n_layers = 2,
                                                .n_heads = pair[1],
                                                .d_model = 64,
                                                .context_length = 32,
                                                .position = monomorph::Position::rotary,
                                                .rotary = {.base = 500'000, .scaling = 8}};
};

}  // namespace recipes
