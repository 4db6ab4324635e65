#pragma once
#include <monomorph/models/gpt2.hpp>
#include <monomorph/run.hpp>

/// The shapes that the peer script has, as recipes.
namespace bench {

struct gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 50'304, .n_layers = 6, .n_heads = 6, .d_model = 384, .context_length = 256};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
  using optimizer = monomorph::optim::AdamW;
  static constexpr int batch = 8;
};
struct gpt2_8192 : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 8192, .n_layers = 6, .n_heads = 6, .d_model = 384, .context_length = 256};
};
struct llama_50304 : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 50'304,
                                                .n_layers = 6,
                                                .n_heads = 6,
                                                .d_model = 384,
                                                .context_length = 256,
                                                .d_ff_multiple = 64,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases,
                                                .tied_head = false};
};
struct llama_8192 : llama_50304 {
  static constexpr monomorph::DecoderSpec model = [] {
    monomorph::DecoderSpec m = llama_50304::model;
    m.vocab_size = 8192;
    return m;
  }();
};
struct small_50304 : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 50'304, .n_layers = 4, .n_heads = 4, .d_model = 128, .context_length = 256};
};
struct small_8192 : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 8192, .n_layers = 4, .n_heads = 4, .d_model = 128, .context_length = 256};
};
/// Of llama_8192's size for a token: two of eight experts, each half as wide as its MLP.
inline constexpr monomorph::MixtureSpec half_wide_experts{.n_experts = 8,
                                                          .top_k = 2,
                                                          .d_expert = 512,
                                                          .bias_rate = 0.001};
struct mixture_8192 : llama_8192 {
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<half_wide_experts>::Block, 6>>;
};
template <class R, class Strategy> struct Sharded : R { using sharding = Strategy; };
template <class R, class Precision> struct In : R { using precision = Precision; };
struct gpt2_124m : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model = monomorph::models::gpt2_124m;
  static constexpr int batch = 1;
};

/// Steps of 256 tokens, in which what surrounds the kernels shows.
struct narrow_llama : gpt2_50304 {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 1024,
                                                .n_layers = 4,
                                                .n_heads = 2,
                                                .d_model = 64,
                                                .context_length = 64,
                                                .d_ff_multiple = 64,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases};
  using checkpointing = monomorph::checkpointing::KeepAll;
  static constexpr int batch = 4;
};

}  // namespace bench
