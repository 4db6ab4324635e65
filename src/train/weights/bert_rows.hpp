#pragma once
#include "train/weights/config_rows.hpp"
#include "train/weights/family.hpp"

#include <monomorph/block/masked_language_head.hpp>

#include <array>

/// What BERT and the families that have its blocks have in common.
namespace monomorph::train::bert_rows {

using nlohmann::json;

/// One probability for all that is added to the residual stream, the embedded tokens among it.
inline json hidden_dropout(const PortableModel& portable) { return portable.model.dropout.residual.value; }
inline void take_hidden_dropout(PortableModel& portable, const json& value) {
  portable.model.dropout.residual = portable.model.dropout.embedding = value.get<double>();
}

/// All tokens are of type 0, so it makes no difference how many types there are.
/// @param written to files
template <std::int64_t written> constexpr ConfigRow token_types(const char* absent) {
  return {"type_vocab_size", absent, [](const PortableModel&) -> json { return written; },
          [](PortableModel&, const json& value) { config_rows::size_from(value); }};
}

/// All but the number of positions and of token types.
template <class... Rows> constexpr auto rows_and(Rows... rows) {
  return std::array{config_rows::size<&DecoderSpec::vocab_size>("vocab_size"),
                    config_rows::size<&DecoderSpec::d_model>("hidden_size"),
                    config_rows::size<&DecoderSpec::n_layers>("num_hidden_layers"),
                    config_rows::dividing_heads("num_attention_heads"),
                    config_rows::derived_size<&DecoderSpec::d_ff, &DecoderSpec::ff_width>("intermediate_size", nullptr),
                    config_rows::norm<&NormSpec::epsilon>("layer_norm_eps", "1e-12"),
                    config_rows::activation("hidden_act", "\"gelu\""),
                    config_rows::dropout<&DropoutSpec::attention>("attention_probs_dropout_prob", "0.1"),
                    ConfigRow{"hidden_dropout_prob", "0.1", hidden_dropout, take_hidden_dropout},
                    ConfigRow{"position_embedding_type", "\"absolute\"",
                              [](const PortableModel&) -> json { return "absolute"; }},
                    ConfigRow{"is_decoder", "false", config_rows::always<false>},
                    ConfigRow{"add_cross_attention", "false", config_rows::always<false>},
                    rows...};
}

/// The norm of the embeddings is the first block's, and that behind a block the next one's: normed_residual blocks have
/// their norms before their parts.
/// @param last_norm of the blocks, its weight and its bias
constexpr auto tensors_with(const NormNames& last_norm) {
  return std::array{TensorRow{last_norm.weight, "encoder.layer.#.output.LayerNorm.weight"},
                    TensorRow{last_norm.bias, "encoder.layer.#.output.LayerNorm.bias"},
                    TensorRow{"embedding.weight", "embeddings.word_embeddings.weight"},
                    TensorRow{"position_embedding.weight", "embeddings.position_embeddings.weight"},
                    TensorRow{"layers.0.attention_norm.weight", "embeddings.LayerNorm.weight"},
                    TensorRow{"layers.0.attention_norm.bias", "embeddings.LayerNorm.bias"},
                    TensorRow{.ours = "layers.#.attention_norm.weight",
                              .theirs = "encoder.layer.#.output.LayerNorm.weight",
                              .blocks_before = 1},
                    TensorRow{.ours = "layers.#.attention_norm.bias",
                              .theirs = "encoder.layer.#.output.LayerNorm.bias",
                              .blocks_before = 1},
                    TensorRow{"layers.#.attention.q.weight", "encoder.layer.#.attention.self.query.weight"},
                    TensorRow{"layers.#.attention.q.bias", "encoder.layer.#.attention.self.query.bias"},
                    TensorRow{"layers.#.attention.k.weight", "encoder.layer.#.attention.self.key.weight"},
                    TensorRow{"layers.#.attention.k.bias", "encoder.layer.#.attention.self.key.bias"},
                    TensorRow{"layers.#.attention.v.weight", "encoder.layer.#.attention.self.value.weight"},
                    TensorRow{"layers.#.attention.v.bias", "encoder.layer.#.attention.self.value.bias"},
                    TensorRow{"layers.#.attention.out.weight", "encoder.layer.#.attention.output.dense.weight"},
                    TensorRow{"layers.#.attention.out.bias", "encoder.layer.#.attention.output.dense.bias"},
                    TensorRow{"layers.#.mlp_norm.weight", "encoder.layer.#.attention.output.LayerNorm.weight"},
                    TensorRow{"layers.#.mlp_norm.bias", "encoder.layer.#.attention.output.LayerNorm.bias"},
                    TensorRow{"layers.#.mlp.up.weight", "encoder.layer.#.intermediate.dense.weight"},
                    TensorRow{"layers.#.mlp.up.bias", "encoder.layer.#.intermediate.dense.bias"},
                    TensorRow{"layers.#.mlp.down.weight", "encoder.layer.#.output.dense.weight"},
                    TensorRow{"layers.#.mlp.down.bias", "encoder.layer.#.output.dense.bias"}};
}
inline constexpr auto tensors = tensors_with(final_norm_names);

/// What all models of these families have.
/// @param unused_positions as in PortableModel
constexpr PortableModel base(std::int64_t unused_positions = 0) {
  return {
      .model = {.vocab_size = 1, .n_layers = 1, .n_heads = 1, .d_model = 1, .context_length = 1, .tied_head = false},
      .mask = {.after = AttentionMask::unlimited},
      .order = BlockOrder::normed_residual,
      .output = ModelOutput::embeddings,
      .unused_positions = unused_positions};
}

/// @param rows that are written
constexpr SharedRow token_type(std::int64_t rows) {
  return {.ours = "position_embedding.weight", .theirs = "embeddings.token_type_embeddings.weight", .rows = rows};
}

}  // namespace monomorph::train::bert_rows
