#pragma once
#include <cstdint>
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/derived.hpp>
#include <monomorph/core/required.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/spec/initialization_spec.hpp>
#include <monomorph/spec/multiplier_spec.hpp>
#include <monomorph/spec/rotary_spec.hpp>
#include <monomorph/spec/soft_cap_spec.hpp>

namespace monomorph {

enum class NormKind {
  layer_norm,
  rms_norm,
  zero_centered_rms_norm,  ///< multiplies by 1 + weight, so that weight decay draws towards 1 (Gemma)
};
/// Normalisation before attention, before the MLP and before the head.
struct NormSpec {
  Defaulted<NormKind> kind = NormKind::layer_norm;
  Defaulted<double> epsilon = 1e-5;
  Defaulted<bool> bias = true;
  friend constexpr bool operator==(const NormSpec&, const NormSpec&) = default;
};

enum class Activation { gelu_exact, gelu_tanh, relu_squared, swiglu, geglu_exact, geglu_tanh };
/// Whether an activation multiplies what a second matrix makes of the same input.
constexpr bool is_gated(Activation activation) {
  using enum Activation;
  return activation == swiglu || activation == geglu_exact || activation == geglu_tanh;
}
enum class Position { learned, rotary, none };

/// Which projections have a bias.
struct BiasSpec {
  Defaulted<bool> qkv = true, attention_out = true, mlp = true;
  friend constexpr bool operator==(const BiasSpec&, const BiasSpec&) = default;
};
inline constexpr BiasSpec no_biases{.qkv = false, .attention_out = false, .mlp = false};

/// Probabilities of zero during training.
struct DropoutSpec {
  Defaulted<double> embedding = 0;  ///< of the embedded tokens
  Defaulted<double> attention = 0;  ///< of attention probabilities: needs AttentionKernel::reference (ATTN-10)
  Defaulted<double> residual = 0;   ///< of what attention and the MLP add to the residual stream
  friend constexpr bool operator==(const DropoutSpec&, const DropoutSpec&) = default;
};
enum class AttentionKernel { tiled, reference };

/// A decoder-only transformer, or the trunk of another kind of model. The order of norms and the mask of attention are
/// types of the recipe (`layers`, `attention`). Counts are of elements, not bytes. Required fields come first.
struct DecoderSpec {
  Required<std::int64_t> vocab_size{};      ///< V, ids of the tokeniser
  Required<std::int64_t> n_layers{};        ///< L
  Required<std::int64_t> n_heads{};         ///< N
  Required<std::int64_t> d_model{};         ///< D, width of the residual stream
  Required<std::int64_t> context_length{};  ///< T, tokens in a training sequence

  Derived<std::int64_t>
      n_kv_heads{};  ///< KV: N (multi-head) unless given; fewer is grouped-query, 1 multi-query attention
  Derived<std::int64_t> head_dim{};  ///< H: D / N unless given
  Derived<std::int64_t> d_ff{};      ///< F: 4 D unless given; of a gated one 8 D / 3 rounded up to d_ff_multiple
  Defaulted<std::int64_t> d_ff_multiple = 256;  ///< only where d_ff is derived for a gated activation
  Defaulted<std::int64_t> vocab_multiple =
      1;  ///< the table is padded to a multiple of so many rows; padded ids have logit -inf

  NormSpec norm{};
  Defaulted<bool> qk_norm =
      false;  ///< queries and keys are normalised per head before rotation, by a norm of the same kind
  Defaulted<Activation> activation = Activation::gelu_tanh;
  Defaulted<Position> position = Position::learned;
  RotarySpec rotary{};  ///< read if position is rotary
  MultiplierSpec multiplier{};
  SoftCapSpec soft_cap{};
  BiasSpec bias{};
  Defaulted<bool> tied_head = true;  ///< the head is the embedding table
  DropoutSpec dropout{};
  Defaulted<AttentionKernel> attention_kernel = AttentionKernel::tiled;
  InitializationSpec initialization{};

  friend constexpr bool operator==(const DecoderSpec&, const DecoderSpec&) = default;

  constexpr std::int64_t kv_heads() const { return n_kv_heads.value_or(n_heads); }
  constexpr std::int64_t head_width() const {
    return head_dim.given ? head_dim.value : n_heads.value > 0 ? d_model / n_heads : 0;
  }
  constexpr std::int64_t q_width() const { return n_heads * head_width(); }
  constexpr std::int64_t kv_width() const { return kv_heads() * head_width(); }
  constexpr std::int64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  constexpr std::int64_t ff_width() const {
    return d_ff.given ? d_ff.value : is_gated(activation) ? round_up(8 * d_model / 3, d_ff_multiple) : 4 * d_model;
  }
  constexpr std::int64_t padded_vocab() const { return round_up(vocab_size, vocab_multiple); }

 private:
  static constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
    return multiple > 0 ? (n + multiple - 1) / multiple * multiple : n;  // total: MODEL rules judge the multiple
  }
};

/// The model with these rotary positions.
constexpr DecoderSpec rotated(DecoderSpec model, const RotarySpec& rotary) {
  model.rotary = rotary;
  return model;
}

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::NormSpec, kind, epsilon, bias);
MONOMORPH_SPEC(monomorph::BiasSpec, qkv, attention_out, mlp);
MONOMORPH_SPEC(monomorph::DropoutSpec, embedding, attention, residual);
MONOMORPH_SPEC(monomorph::DecoderSpec, vocab_size, n_layers, n_heads, d_model, context_length, n_kv_heads, head_dim,
               d_ff, d_ff_multiple, vocab_multiple, norm, qk_norm, activation, position, rotary, multiplier, soft_cap,
               bias, tied_head, dropout, attention_kernel, initialization);
