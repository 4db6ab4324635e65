#include "train/weights/llama_rows.hpp"

/// Llama, and the families that differ from it in an option or two.
namespace monomorph::train {
namespace {

using namespace llama_rows;

constexpr ConfigRow mlp_bias{"mlp_bias", "false",
                             [](const PortableModel& portable) -> json { return portable.model.bias.mlp.value; },
                             [](PortableModel& portable, const json& value) {
                               portable.model.bias.mlp = value.get<bool>();
                             }};

constexpr ConfigRow no_window{"use_sliding_window", "false", [](const PortableModel&) -> json { return false; }};

constexpr auto llama_config = rows_and({}, rotary_parameters, silu, attention_bias, mlp_bias, dividing_heads);
constexpr auto mistral_config = rows_and({.kv_heads = "8"}, rotary_parameters, silu, window("4096"));
constexpr auto qwen2_config = rows_and({.kv_heads = "32"}, rotary_parameters, silu, no_window);
constexpr auto qwen3_config =
    rows_and({.head_dim = "128", .kv_heads = "32"}, rotary_parameters, silu, attention_bias, no_window);

constexpr std::array<std::string_view, 1> llama_ignored{"pretraining_tp"};
/// Read only where use_sliding_window is true; layer_types then says the same.
constexpr std::array<std::string_view, 3> qwen_ignored{"sliding_window", "max_window_layers", "layer_types"};

}  // namespace

const Family llama{"llama", "LlamaForCausalLM", base(false, false), llama_config, llama_ignored, tensors, buffers,
                   "model."};
const Family mistral{"mistral", "MistralForCausalLM", base(false, false), mistral_config, {}, tensors, buffers,
                     "model."};
const Family qwen2{"qwen2", "Qwen2ForCausalLM", base(true, false), qwen2_config, qwen_ignored, tensors, buffers,
                   "model."};
const Family qwen3{"qwen3", "Qwen3ForCausalLM", base(false, true), qwen3_config, qwen_ignored, tensors, buffers,
                   "model."};

}  // namespace monomorph::train
