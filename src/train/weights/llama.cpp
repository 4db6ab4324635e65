#include "train/weights/config_rows.hpp"
#include "train/weights/family.hpp"

#include <array>

/// Llama, and the families that differ from it in an option or two.
namespace monomorph::train {
namespace {

using nlohmann::json;

json rotary_scaling(const PortableModel& portable) {
  const Llama3RotaryScaling& scaling = portable.model.rotary.scaling;
  if (scaling.factor == 1) return nullptr;
  return {{"rope_type", "llama3"},
          {"factor", scaling.factor.value},
          {"low_freq_factor", scaling.low_frequency_factor.value},
          {"high_freq_factor", scaling.high_frequency_factor.value},
          {"original_max_position_embeddings", scaling.original_context.value}};
}
void take_rotary_scaling(PortableModel& portable, const json& value) {
  if (value.is_null()) return;
  const std::string kind = value.at(value.contains("rope_type") ? "rope_type" : "type").get<std::string>();
  if (kind == "default") return;
  if (kind != "llama3") throw NotExpressible{};
  portable.model.rotary.scaling = {.factor = value.at("factor").get<double>(),
                                   .low_frequency_factor = value.at("low_freq_factor").get<double>(),
                                   .high_frequency_factor = value.at("high_freq_factor").get<double>(),
                                   .original_context =
                                       config_rows::size_from(value.at("original_max_position_embeddings"))};
}

constexpr ConfigRow rotary_base{"rope_theta", "10000.0",
                                [](const PortableModel& portable) -> json { return portable.model.rotary.base.value; },
                                [](PortableModel& portable, const json& value) {
                                  portable.model.rotary.base = value.get<double>();
                                }};

constexpr ConfigRow activation{"hidden_act", "\"silu\"", [](const PortableModel&) -> json { return "silu"; }};

constexpr ConfigRow attention_bias{"attention_bias", "false",
                                   [](const PortableModel& portable) -> json { return portable.model.bias.qkv.value; },
                                   [](PortableModel& portable, const json& value) {
                                     portable.model.bias.qkv = value.get<bool>();
                                     portable.model.bias.attention_out = value.get<bool>();
                                   }};
constexpr ConfigRow mlp_bias{"mlp_bias", "false",
                             [](const PortableModel& portable) -> json { return portable.model.bias.mlp.value; },
                             [](PortableModel& portable, const json& value) {
                               portable.model.bias.mlp = value.get<bool>();
                             }};

constexpr ConfigRow window{"sliding_window", "4096",
                           [](const PortableModel& portable) -> json {
                             return portable.mask == AttentionMask{.before = portable.mask.before} &&
                                            portable.mask != AttentionMask{}
                                        ? json(portable.mask.before + 1)
                                        : json(nullptr);
                           },
                           [](PortableModel& portable, const json& value) {
                             if (!value.is_null()) portable.mask.before = config_rows::size_from(value) - 1;
                           }};

constexpr ConfigRow no_window{"use_sliding_window", "false", [](const PortableModel&) -> json { return false; }};

constexpr ConfigRow head_width(const char* absent) {
  return config_rows::derived_size<&DecoderSpec::head_dim, &DecoderSpec::head_width>("head_dim", absent);
}

/// What all have, and then what one has of its own.
template <class... Rows> constexpr auto rows_and(const char* head_dim_absent, Rows... own) {
  using namespace config_rows;
  return std::array{size<&DecoderSpec::vocab_size>("vocab_size"),
                    size<&DecoderSpec::context_length>("max_position_embeddings"),
                    size<&DecoderSpec::d_model>("hidden_size"), size<&DecoderSpec::n_layers>("num_hidden_layers"),
                    size<&DecoderSpec::n_heads>("num_attention_heads"),
                    derived_size<&DecoderSpec::n_kv_heads, &DecoderSpec::kv_heads>("num_key_value_heads", "null"),
                    head_width(head_dim_absent),
                    // Not derived by our rule, which is another one than each family's default: the file must have it.
                    derived_size<&DecoderSpec::d_ff, &DecoderSpec::ff_width>("intermediate_size", nullptr),
                    norm<&NormSpec::epsilon>("rms_norm_eps", "1e-6"), rotary_base,
                    ConfigRow{"rope_scaling", "null", rotary_scaling, take_rotary_scaling},
                    dropout<&DropoutSpec::attention>("attention_dropout", "0.0"), tied_head("false"), activation,
                    own...};
}

constexpr auto llama_config = rows_and("null", attention_bias, mlp_bias);
constexpr auto mistral_config = rows_and("null", window);
constexpr auto qwen2_config = rows_and("null", no_window);
constexpr auto qwen3_config = rows_and("128", attention_bias, no_window);

constexpr std::array<std::string_view, 1> llama_ignored{"pretraining_tp"};
/// Read only where use_sliding_window is true; layer_types then says the same.
constexpr std::array<std::string_view, 3> qwen_ignored{"sliding_window", "max_window_layers", "layer_types"};

constexpr std::array llama_tensors{
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

constexpr std::array<std::string_view, 1> llama_buffers{"model.layers.#.self_attn.rotary_emb.inv_freq"};

constexpr PortableModel llama_base(bool qkv_bias, bool qk_norm) {
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

}  // namespace

const Family llama{
    "llama", "LlamaForCausalLM", llama_base(false, false), llama_config, llama_ignored, llama_tensors, llama_buffers,
    "model."};
const Family mistral{
    "mistral", "MistralForCausalLM", llama_base(false, false), mistral_config, {}, llama_tensors, llama_buffers,
    "model."};
const Family qwen2{"qwen2",      "Qwen2ForCausalLM", llama_base(true, false), qwen2_config,
                   qwen_ignored, llama_tensors,      llama_buffers,           "model."};
const Family qwen3{"qwen3",      "Qwen3ForCausalLM", llama_base(false, true), qwen3_config,
                   qwen_ignored, llama_tensors,      llama_buffers,           "model."};

}  // namespace monomorph::train
