#pragma once
#include <monomorph/spec/decoder_spec.hpp>

/// GPT-2 (Radford et al. 2019), as in the published checkpoints.
namespace monomorph::models {

namespace detail {
consteval DecoderSpec gpt2(std::int64_t n_layers, std::int64_t n_heads, std::int64_t d_model) {
  return {.vocab_size = 50'257,
          .n_layers = n_layers,
          .n_heads = n_heads,
          .d_model = d_model,
          .context_length = 1024,
          .vocab_multiple = 64};  // 50,304 rows: products of a whole number of tiles
}
}  // namespace detail

inline constexpr DecoderSpec gpt2_124m = detail::gpt2(12, 12, 768);
inline constexpr DecoderSpec gpt2_355m = detail::gpt2(24, 16, 1024);
inline constexpr DecoderSpec gpt2_774m = detail::gpt2(36, 20, 1280);
inline constexpr DecoderSpec gpt2_1_5b = detail::gpt2(48, 25, 1600);

}  // namespace monomorph::models
