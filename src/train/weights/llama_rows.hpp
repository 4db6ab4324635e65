#pragma once
#include "train/weights/config_rows.hpp"
#include "train/weights/family.hpp"
#include "train/weights/rotary_config.hpp"

#include <array>

/// What Llama and the families that were made of it have in common.
namespace monomorph::train::llama_rows {

using nlohmann::json;

inline constexpr ConfigRow context{"max_position_embeddings", nullptr,
                                   [](const PortableModel& portable) -> json { return max_positions_of(portable); },
                                   [](PortableModel& portable, const json& value) {
                                     portable.model.context_length = config_rows::size_from(value);
                                   }};

constexpr ConfigRow rotary_base(const char* absent) {
  return {"rope_theta", absent, [](const PortableModel& portable) -> json { return portable.model.rotary.base.value; },
          [](PortableModel& portable, const json& value) { portable.model.rotary.base = rotary_base_from(value); }};
}

inline constexpr std::array<std::string_view, 2> older_rotary_keys{"rope_theta", "rope_scaling"};
inline constexpr ConfigRow rotary_parameters{"rope_parameters", "null",
                                             [](const PortableModel&) -> json { return nullptr; }, take_rope_parameters,
                                             older_rotary_keys};

inline constexpr ConfigRow silu{"hidden_act", "\"silu\"", [](const PortableModel&) -> json { return "silu"; }};

/// A second row of the key, of the families that have this condition.
inline constexpr ConfigRow dividing_heads = config_rows::dividing_heads("num_attention_heads");

inline constexpr ConfigRow attention_bias{"attention_bias", "false",
                                          [](const PortableModel& portable) -> json {
                                            return portable.model.bias.qkv.value;
                                          },
                                          [](PortableModel& portable, const json& value) {
                                            portable.model.bias.qkv = value.get<bool>();
                                            portable.model.bias.attention_out = value.get<bool>();
                                          }};

/// Of attention over all layers. null is none.
constexpr ConfigRow window(const char* absent) {
  return {"sliding_window", absent,
          [](const PortableModel& portable) -> json {
            return portable.mask == AttentionMask{.before = portable.mask.before} && portable.mask != AttentionMask{}
                       ? json(portable.mask.before + 1)
                       : json(nullptr);
          },
          [](PortableModel& portable, const json& value) {
            if (!value.is_null()) portable.mask.before = config_rows::size_from(value) - 1;
          }};
}

/// What transformers reads where a file does not say it, where families differ in that.
struct Absent {
  const char *head_dim = "null", *kv_heads = "null", *epsilon = "1e-6", *rotary_base = "10000.0", *tied_head = "false";
};

/// What all have, and then what one has of its own: first of all `rotary_parameters`, if it is as usual.
template <class... Rows> constexpr auto rows_and(const Absent& absent, Rows... own) {
  using namespace config_rows;
  return std::array{size<&DecoderSpec::vocab_size>("vocab_size"), context, size<&DecoderSpec::d_model>("hidden_size"),
                    size<&DecoderSpec::n_layers>("num_hidden_layers"),
                    size<&DecoderSpec::n_heads>("num_attention_heads"),
                    derived_size<&DecoderSpec::n_kv_heads, &DecoderSpec::kv_heads>("num_key_value_heads",
                                                                                   absent.kv_heads),
                    derived_size<&DecoderSpec::head_dim, &DecoderSpec::head_width>("head_dim", absent.head_dim),
                    // Not derived by our rule, which is another one than each family's default: the file must have it.
                    derived_size<&DecoderSpec::d_ff, &DecoderSpec::ff_width>("intermediate_size", nullptr),
                    norm<&NormSpec::epsilon>("rms_norm_eps", absent.epsilon), rotary_base(absent.rotary_base),
                    ConfigRow{"rope_scaling", "null", rope_scaling_of, take_rope_scaling},
                    dropout<&DropoutSpec::attention>("attention_dropout", "0.0"), tied_head(absent.tied_head), own...};
}

inline constexpr std::array tensors{
    TensorRow{"embedding.weight", "model.embed_tokens.weight"},
    TensorRow{"final_norm.weight", "model.norm.weight"},
    TensorRow{"head.weight", "lm_head.weight"},
    TensorRow{"layers.#.attention_norm.weight", "model.layers.#.input_layernorm.weight"},
    TensorRow{"layers.#.attention.q.weight", "model.layers.#.self_attn.q_proj.weight"},
    TensorRow{"layers.#.attention.k.weight", "model.layers.#.self_attn.k_proj.weight"},
    TensorRow{"layers.#.attention.v.weight", "model.layers.#.self_attn.v_proj.weight"},
    TensorRow{"layers.#.attention.q.bias", "model.layers.#.self_attn.q_proj.bias"},
    TensorRow{"layers.#.attention.k.bias", "model.layers.#.self_attn.k_proj.bias"},
    TensorRow{"layers.#.attention.v.bias", "model.layers.#.self_attn.v_proj.bias"},
    TensorRow{"layers.#.attention.q_norm.weight", "model.layers.#.self_attn.q_norm.weight"},
    TensorRow{"layers.#.attention.k_norm.weight", "model.layers.#.self_attn.k_norm.weight"},
    TensorRow{"layers.#.attention.out.weight", "model.layers.#.self_attn.o_proj.weight"},
    TensorRow{"layers.#.attention.out.bias", "model.layers.#.self_attn.o_proj.bias"},
    TensorRow{"layers.#.mlp_norm.weight", "model.layers.#.post_attention_layernorm.weight"},
    TensorRow{"layers.#.mlp.gate.weight", "model.layers.#.mlp.gate_proj.weight"},
    TensorRow{"layers.#.mlp.gate.bias", "model.layers.#.mlp.gate_proj.bias"},
    TensorRow{"layers.#.mlp.up.weight", "model.layers.#.mlp.up_proj.weight"},
    TensorRow{"layers.#.mlp.up.bias", "model.layers.#.mlp.up_proj.bias"},
    TensorRow{"layers.#.mlp.down.weight", "model.layers.#.mlp.down_proj.weight"},
    TensorRow{"layers.#.mlp.down.bias", "model.layers.#.mlp.down_proj.bias"}};

inline constexpr std::array<std::string_view, 1> buffers{"model.layers.#.self_attn.rotary_emb.inv_freq"};

constexpr PortableModel base(bool qkv_bias, bool qk_norm) {
  return {.model = {.vocab_size = 1,
                    .n_layers = 1,
                    .n_heads = 1,
                    .d_model = 1,
                    .context_length = 1,
                    .norm = {.kind = NormKind::rms_norm, .bias = false},
                    .qk_norm = qk_norm,
                    .activation = Activation::swiglu,
                    .position = Position::rotary,
                    .bias = {.qkv = qkv_bias, .attention_out = false, .mlp = false},
                    .tied_head = false}};
}

}  // namespace monomorph::train::llama_rows
