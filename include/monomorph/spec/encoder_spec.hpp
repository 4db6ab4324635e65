#pragma once
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/spec/embedding_spec.hpp>

namespace monomorph {

/// Transformer that makes embeddings of texts: the blocks of DecoderSpec, and in place of a head over the vocabulary a
/// pooling of the tokens of each text. Counts are of elements, not bytes. Required fields first.
struct EncoderSpec {
  Required<std::int64_t> vocab_size{};      ///< V, ids of the tokeniser
  Required<std::int64_t> n_layers{};        ///< L
  Required<std::int64_t> n_heads{};         ///< N
  Required<std::int64_t> d_model{};         ///< D, width of the residual stream
  Required<std::int64_t> context_length{};  ///< T, tokens of a sample: of all its texts together

  Defaulted<Pooling> pooling = Pooling::mean;
  Derived<std::int64_t> d_embedding{};  ///< E: a projection makes so many features; D, without one, unless given
  Defaulted<bool> unit_length = true;   ///< embeddings are divided by their length, so that products are cosines

  // As in DecoderSpec.
  Derived<std::int64_t> n_kv_heads{};
  Derived<std::int64_t> head_dim{};
  Derived<std::int64_t> d_ff{};
  Defaulted<std::int64_t> d_ff_multiple = 256;
  Defaulted<std::int64_t> vocab_multiple = 1;
  NormSpec norm{};
  Defaulted<bool> qk_norm = false;
  Defaulted<Activation> activation = Activation::gelu_tanh;
  Defaulted<Position> position = Position::learned;  ///< they begin anew with each text
  RotarySpec rotary{};
  MultiplierSpec multiplier{};
  SoftCapSpec soft_cap{};  ///< of scores: there are no logits (ENC-06)
  BiasSpec bias{};
  DropoutSpec dropout{};
  Defaulted<AttentionKernel> attention_kernel = AttentionKernel::tiled;
  InitializationSpec initialization{};

  static constexpr bool tied_head = false;  ///< the head, a norm and perhaps a projection, is a unit of its own

  friend constexpr bool operator==(const EncoderSpec&, const EncoderSpec&) = default;

  /// The same without what makes embeddings: what the plan and the program know of every model.
  constexpr DecoderSpec trunk() const {
    return {.vocab_size = vocab_size,
            .n_layers = n_layers,
            .n_heads = n_heads,
            .d_model = d_model,
            .context_length = context_length,
            .n_kv_heads = n_kv_heads,
            .head_dim = head_dim,
            .d_ff = d_ff,
            .d_ff_multiple = d_ff_multiple,
            .vocab_multiple = vocab_multiple,
            .norm = norm,
            .qk_norm = qk_norm,
            .activation = activation,
            .position = position,
            .rotary = rotary,
            .multiplier = multiplier,
            .soft_cap = soft_cap,
            .bias = bias,
            .tied_head = tied_head,
            .dropout = dropout,
            .attention_kernel = attention_kernel,
            .initialization = initialization};
  }
  constexpr EmbeddingSpec embedding() const {
    return {.pooling = pooling, .features = d_embedding, .unit_length = unit_length};
  }
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::EncoderSpec, vocab_size, n_layers, n_heads, d_model, context_length, pooling, d_embedding,
               unit_length, n_kv_heads, head_dim, d_ff, d_ff_multiple, vocab_multiple, norm, qk_norm, activation,
               position, rotary, multiplier, soft_cap, bias, dropout, attention_kernel, initialization);
