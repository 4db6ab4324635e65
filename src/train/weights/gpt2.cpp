#include "train/weights/config_rows.hpp"
#include "train/weights/family.hpp"

#include <array>

namespace monomorph::train {
namespace {

constexpr std::array gpt2_config{config_rows::size<&DecoderSpec::vocab_size>("vocab_size"),
                                 config_rows::size<&DecoderSpec::context_length>("n_positions"),
                                 config_rows::size<&DecoderSpec::d_model>("n_embd"),
                                 config_rows::size<&DecoderSpec::n_layers>("n_layer"),
                                 config_rows::dividing_heads("n_head"),
                                 config_rows::derived_size<&DecoderSpec::d_ff, &DecoderSpec::ff_width>("n_inner",
                                                                                                       "null"),
                                 config_rows::norm<&NormSpec::epsilon>("layer_norm_epsilon", "1e-5"),
                                 config_rows::tied_head("true"),
                                 config_rows::dropout<&DropoutSpec::embedding>("embd_pdrop", "0.1"),
                                 config_rows::dropout<&DropoutSpec::attention>("attn_pdrop", "0.1"),
                                 config_rows::dropout<&DropoutSpec::residual>("resid_pdrop", "0.1"),
                                 config_rows::activation("activation_function", "\"gelu_new\""),
                                 ConfigRow{"scale_attn_weights", "true", config_rows::always<true>},
                                 ConfigRow{"scale_attn_by_inverse_layer_idx", "false", config_rows::always<false>},
                                 ConfigRow{"add_cross_attention", "false", config_rows::always<false>}};

constexpr std::array<std::string_view, 9> gpt2_ignored{"n_ctx",
                                                       "n_special",
                                                       "predict_special_tokens",
                                                       "reorder_and_upcast_attn",
                                                       "summary_activation",
                                                       "summary_first_dropout",
                                                       "summary_proj_to_labels",
                                                       "summary_type",
                                                       "summary_use_proj"};

constexpr std::array gpt2_tensors{TensorRow{"embedding.weight", "transformer.wte.weight"},
                                  TensorRow{"position_embedding.weight", "transformer.wpe.weight"},
                                  TensorRow{"final_norm.weight", "transformer.ln_f.weight"},
                                  TensorRow{"final_norm.bias", "transformer.ln_f.bias"},
                                  TensorRow{"head.weight", "lm_head.weight"},
                                  TensorRow{"layers.#.attention_norm.weight", "transformer.h.#.ln_1.weight"},
                                  TensorRow{"layers.#.attention_norm.bias", "transformer.h.#.ln_1.bias"},
                                  TensorRow{"layers.#.attention.q.weight", "transformer.h.#.attn.c_attn.weight", true},
                                  TensorRow{"layers.#.attention.k.weight", "transformer.h.#.attn.c_attn.weight", true},
                                  TensorRow{"layers.#.attention.v.weight", "transformer.h.#.attn.c_attn.weight", true},
                                  TensorRow{"layers.#.attention.q.bias", "transformer.h.#.attn.c_attn.bias"},
                                  TensorRow{"layers.#.attention.k.bias", "transformer.h.#.attn.c_attn.bias"},
                                  TensorRow{"layers.#.attention.v.bias", "transformer.h.#.attn.c_attn.bias"},
                                  TensorRow{"layers.#.attention.out.weight", "transformer.h.#.attn.c_proj.weight",
                                            true},
                                  TensorRow{"layers.#.attention.out.bias", "transformer.h.#.attn.c_proj.bias"},
                                  TensorRow{"layers.#.mlp_norm.weight", "transformer.h.#.ln_2.weight"},
                                  TensorRow{"layers.#.mlp_norm.bias", "transformer.h.#.ln_2.bias"},
                                  TensorRow{"layers.#.mlp.up.weight", "transformer.h.#.mlp.c_fc.weight", true},
                                  TensorRow{"layers.#.mlp.up.bias", "transformer.h.#.mlp.c_fc.bias"},
                                  TensorRow{"layers.#.mlp.down.weight", "transformer.h.#.mlp.c_proj.weight", true},
                                  TensorRow{"layers.#.mlp.down.bias", "transformer.h.#.mlp.c_proj.bias"}};

constexpr std::array<std::string_view, 2> gpt2_buffers{"transformer.h.#.attn.bias", "transformer.h.#.attn.masked_bias"};

}  // namespace

const Family gpt2{.model_type = "gpt2",
                  .architecture = "GPT2LMHeadModel",
                  .base = {.model = {.vocab_size = 1, .n_layers = 1, .n_heads = 1, .d_model = 1, .context_length = 1}},
                  .config = gpt2_config,
                  .ignored = gpt2_ignored,
                  .tensors = gpt2_tensors,
                  .buffers = gpt2_buffers,
                  .optional_prefix = "transformer."};

}  // namespace monomorph::train
