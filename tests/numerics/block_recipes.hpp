#pragma once
#include "numerics/block_check.hpp"

#include <monomorph/checkpointing/keep_all.hpp>
#include <monomorph/precision/fp64.hpp>

#include <utility>

/// Every combination of a decoder block's options that meet in one of its halves: for each of the four norms the 48 of
/// attention, each together with one of the 8 of the MLP, which all occur.
namespace monomorph::testing {

inline constexpr int block_norms = 4, block_attentions = 48, block_mlps = 8;

/// Reads a number digit by digit, each in a base of its own.
struct Digits {
  int rest;
  constexpr int next(int base) {
    const int digit = rest % base;
    rest /= base;
    return digit;
  }
  constexpr bool flag() { return next(2) == 1; }
};

constexpr int block_mlp(int attention) { return (attention + attention / block_mlps) % block_mlps; }

inline constexpr DecoderSpec small_block{
    .vocab_size = 1, .n_layers = 1, .n_heads = 4, .d_model = 32, .context_length = 3, .n_kv_heads = 4, .d_ff = 56};

/// Sequences of several lengths end in other places of attention's tiles; dropout is on here and there.
constexpr DecoderSpec block_model(int norm, int attention) {
  Digits norm_digits{norm}, digits{attention}, mlp_digits{block_mlp(attention)};
  DecoderSpec model = small_block;
  model.context_length.value += 17 * (attention % 7);
  model.norm = {.kind = norm_digits.flag() ? NormKind::rms_norm : NormKind::layer_norm,
                .epsilon = 1e-3,
                .bias = norm_digits.flag()};
  model.qk_norm = digits.flag();
  model.position = digits.flag() ? Position::rotary : Position::none;
  model.n_kv_heads.value >>= digits.next(3);    // 4, 2 or 1
  if (attention % 5 == 2) model.head_dim = 12;  // queries are wider than the model
  model.bias.qkv = digits.flag();
  model.bias.attention_out = digits.flag();
  model.activation = Activation{mlp_digits.next(4)};
  model.bias.mlp = mlp_digits.flag();
  if (model.position == Position::rotary && attention % 3 == 0)
    model.rotary = {.base = 10'000,
                    .scaling = {.factor = 4, .original_context = 64}};  // wavelengths of all three kinds
  if (attention % 5 == 0) model.dropout.residual = 0.25;
  if (attention % 4 == 1) model.attention_kernel = AttentionKernel::reference;
  if (attention % 8 == 1) model.dropout.attention = 0.25;
  return model;
}

template <int norm, int attention> struct BlockRecipe {
  static constexpr DecoderSpec model = block_model(norm, attention);
  using precision = monomorph::precision::Fp64;
  using checkpointing = monomorph::checkpointing::KeepAll;
};

/// All blocks with one norm: one test case, and one file to compile.
template <int norm> void check_blocks() {
  [&]<int... attention>(std::integer_sequence<int, attention...>) {
    (check_block(block_case<DecoderBlock<BlockRecipe<norm, attention>>>()), ...);
  }
  (std::make_integer_sequence<int, block_attentions>());
}

}  // namespace monomorph::testing
