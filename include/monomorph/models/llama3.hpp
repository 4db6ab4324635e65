#pragma once
#include <monomorph/spec/decoder_spec.hpp>

/// Llama 3 (Llama Team 2024): 1B and 3B of release 3.2 with tied heads, 8B and 70B of release 3.
namespace monomorph::models {

namespace detail {
consteval DecoderSpec llama3(std::int64_t n_layers, std::int64_t n_heads, std::int64_t d_model, std::int64_t d_ff,
                             std::int64_t head_dim, bool tied_head, double rotary_factor) {
  return {.vocab_size = 128'256,
          .n_layers = n_layers,
          .n_heads = n_heads,
          .d_model = d_model,
          .context_length = 8192,
          .n_kv_heads = 8,
          .head_dim = head_dim,
          .d_ff = d_ff,
          .norm = {.kind = NormKind::rms_norm, .epsilon = 1e-5, .bias = false},
          .activation = Activation::swiglu,
          .position = Position::rotary,
          .rotary = {.base = 500'000, .scaling = {.factor = rotary_factor}},
          .bias = no_biases,
          .tied_head = tied_head,
          .initialization = {.scheme = InitializationScheme::llama3}};
}
}  // namespace detail

inline constexpr DecoderSpec llama3_1b = detail::llama3(16, 32, 2048, 8192, 64, true, 32);
inline constexpr DecoderSpec llama3_3b = detail::llama3(28, 24, 3072, 8192, 128, true, 32);
inline constexpr DecoderSpec llama3_8b = detail::llama3(32, 32, 4096, 14'336, 128, false, 1);
inline constexpr DecoderSpec llama3_70b = detail::llama3(80, 64, 8192, 28'672, 128, false, 1);

}  // namespace monomorph::models
