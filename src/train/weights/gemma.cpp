#include "train/weights/llama_rows.hpp"

#include <monomorph/block/initializers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

/// Gemma 2 and the text models of Gemma 3: Llama's tensors and two norms more, local layers among those that see all, a
/// gated GELU, norms that are centred at zero, embedded tokens that are multiplied by sqrt(d_model), and soft caps.
namespace monomorph::train {
namespace {

using namespace llama_rows;

/// A second row of the key, as no other says it.
constexpr ConfigRow embedding_multiplier{"hidden_size", nullptr,
                                         [](const PortableModel& portable) -> json {
                                           return portable.model.d_model.value;
                                         },
                                         [](PortableModel& portable, const json& value) {
                                           portable.model.multiplier.embedding = initializers::square_root(
                                               static_cast<double>(config_rows::size_from(value)));
                                         }};

constexpr double largest_divisor = 1e9;
double divisor_of(double multiplier) { return 1 / (multiplier * multiplier); }
/// Rounding aside, it is one in all models that were published; nothing if it is none.
std::optional<std::int64_t> whole_divisor(const PortableModel& portable) {
  if (!portable.model.multiplier.attention.given) return portable.model.head_width();
  const double divisor = divisor_of(portable.model.multiplier.attention.value), whole = std::round(divisor);
  const bool is_whole = divisor <= largest_divisor && std::fabs(divisor - whole) < 1e-9 * whole;
  return is_whole ? std::optional(static_cast<std::int64_t>(whole)) : std::nullopt;
}
std::string fraction_as_divisor(const PortableModel& portable) {
  if (whole_divisor(portable)) return "";
  return fmt::format("its attention multiplier must be 1 over the root of a whole number, and is {} in the recipe",
                     portable.model.multiplier.attention.value);
}

/// Scores are divided by its square root.
constexpr ConfigRow score_divisor{"query_pre_attn_scalar",
                                  "256",
                                  [](const PortableModel& portable) -> json {
                                    const std::optional<std::int64_t> whole = whole_divisor(portable);
                                    return whole ? json(*whole)
                                                 : json(divisor_of(portable.model.multiplier.attention.value));
                                  },
                                  [](PortableModel& portable, const json& value) {
                                    if (!value.is_number()) throw WrongType{};
                                    const auto divisor = value.get<double>();
                                    if (divisor <= 0 || divisor > largest_divisor)
                                      throw NotExpressible{"it must be above 0, and at most 1e9"};
                                    if (divisor != static_cast<double>(portable.model.head_width()))
                                      portable.model.multiplier.attention = 1 / std::sqrt(divisor);
                                  },
                                  {},
                                  fraction_as_divisor};

std::size_t layers_of(const PortableModel& portable) { return static_cast<std::size_t>(portable.model.n_layers.value); }

/// The local layers where one in so many is not.
std::bitset<most_layers> layers_by_pattern(std::size_t n_layers, std::size_t pattern) {
  std::bitset<most_layers> layers;
  for (std::size_t layer = 0; layer < n_layers; ++layer) layers.set(layer, (layer + 1) % pattern != 0);
  return layers;
}

/// Null if there is none.
json pattern_of(const PortableModel& portable) {
  if (!portable.local) return 1;
  for (std::size_t pattern = 2; pattern <= layers_of(portable); ++pattern)
    if (portable.local->layers == layers_by_pattern(layers_of(portable), pattern)) return pattern;
  return nullptr;
}

/// @param pattern one layer in so many is not local
void take_pattern(PortableModel& portable, std::int64_t pattern) {
  if (layers_of(portable) > most_layers) throw NotExpressible{"there are more layers than recipes may have"};
  const LocalLayers local{.rotary = portable.model.rotary,
                          .layers = layers_by_pattern(layers_of(portable), static_cast<std::size_t>(pattern))};
  portable.local.reset();
  if (local.layers.any()) portable.local = local;
}

constexpr std::string_view local_name = "sliding_attention", whole_name = "full_attention";

json layer_types_of(const PortableModel& portable) {
  json types = json::array();
  for (std::size_t layer = 0; layer < layers_of(portable); ++layer)
    types.push_back(portable.local && portable.local->layers.test(layer) ? local_name : whole_name);
  return types;
}

void check_some_see_all(const PortableModel& portable, const LocalLayers& local) {
  if (local.layers.count() == layers_of(portable)) throw NotExpressible{"one at least must be full_attention"};
}

void take_layer_types(PortableModel& portable, const json& value) {
  const auto types = value.get<std::vector<std::string>>();
  if (types.size() != layers_of(portable) || types.size() > most_layers)
    throw NotExpressible{"it must have one for each layer"};
  LocalLayers local{.rotary = portable.model.rotary};
  for (std::size_t layer = 0; layer < types.size(); ++layer) {
    if (types[layer] == local_name)
      local.layers.set(layer);
    else if (types[layer] != whole_name)
      throw NotExpressible{fmt::format("each must be {} or {}", local_name, whole_name)};
  }
  check_some_see_all(portable, local);
  portable.local.reset();
  if (local.layers.any()) portable.local = local;
}

/// In files from before there were layer_types; where these are, they hold. Versions of transformers from before read
/// an export by it, and stop at null.
constexpr ConfigRow window_pattern{"sliding_window_pattern", "6", pattern_of,
                                   [](PortableModel& portable, const json& value) {
                                     take_pattern(portable, value.is_null() ? 6 : config_rows::size_from(value));
                                   }};
constexpr ConfigRow layer_types{"layer_types", "null", layer_types_of, [](PortableModel& portable, const json& value) {
                                  if (!value.is_null()) return take_layer_types(portable, value);
                                  if (portable.local) check_some_see_all(portable, *portable.local);
                                }};
/// Where files say nothing every second layer sees all.
constexpr ConfigRow alternating_layer_types{"layer_types", "null", layer_types_of,
                                            [](PortableModel& portable, const json& value) {
                                              if (value.is_null()) return take_pattern(portable, 2);
                                              take_layer_types(portable, value);
                                            }};

constexpr std::int64_t usual_window = 4096;
/// Of the local layers; read by none where there are none.
constexpr ConfigRow local_window{"sliding_window", "4096",
                                 [](const PortableModel& portable) -> json {
                                   return portable.local ? portable.local->mask.before + 1 : usual_window;
                                 },
                                 [](PortableModel& portable, const json& value) {
                                   const std::int64_t window = config_rows::size_from(value);
                                   if (portable.local) portable.local->mask.before = window - 1;
                                 }};
constexpr ConfigRow local_rotary_base{"rope_local_base_freq", "10000.0",
                                      [](const PortableModel& portable) -> json {
                                        return portable.local ? portable.local->rotary.base.value
                                                              : RotarySpec{}.base.value;
                                      },
                                      [](PortableModel& portable, const json& value) {
                                        const double base = rotary_base_from(value);
                                        if (portable.local) portable.local->rotary = {.base = base};
                                      }};

/// By the type of a layer.
void take_rotary_by_type(PortableModel& portable, const json& value) {
  if (value.is_null()) return;
  if (!value.is_object()) throw WrongType{};
  for (const auto& [type, parameters] : value.items()) {
    if (type == whole_name) {
      take_rope_parameters(portable, parameters);
    } else if (type == local_name) {
      PortableModel local = portable;
      local.model.rotary = portable.local ? portable.local->rotary : RotarySpec{};
      take_rope_parameters(local, parameters);
      if (portable.local) portable.local->rotary = local.model.rotary;
    } else {
      throw NotExpressible{fmt::format("its keys must be {} and {}", whole_name, local_name)};
    }
  }
}
constexpr std::array<std::string_view, 3> older_rotary_keys_by_type{"rope_theta", "rope_scaling",
                                                                    "rope_local_base_freq"};
constexpr ConfigRow rotary_by_type{"rope_parameters", "null", [](const PortableModel&) -> json { return nullptr; },
                                   take_rotary_by_type, older_rotary_keys_by_type};

constexpr ConfigRow gated_activation =
    config_rows::activation_of<config_rows::gated_activations>("hidden_activation", "\"gelu_pytorch_tanh\"");

/// A number, or null for none.
template <auto cap> constexpr ConfigRow soft_cap(std::string_view key, const char* absent) {
  return {key, absent,
          [](const PortableModel& portable) -> json {
            const double value = portable.model.soft_cap.*cap;
            return value > 0 ? json(value) : json(nullptr);
          },
          [](PortableModel& portable, const json& value) {
            if (!value.is_null() && !value.is_number()) throw WrongType{};
            const double number = value.is_null() ? 0 : value.get<double>();
            if (!value.is_null() && (number < 0.001 || number > 1e9))
              throw NotExpressible{"it must be at least 0.001 and at most 1e9, or null"};
            portable.model.soft_cap.*cap = number;
          }};
}
constexpr ConfigRow logits_cap(const char* absent) {
  return soft_cap<&SoftCapSpec::logits>("final_logit_softcapping", absent);
}
/// Of Gemma 3, whose layers in transformers keep such a number and read it nowhere.
constexpr ConfigRow no_scores_cap{"attn_logit_softcapping", "null",
                                  [](const PortableModel&) -> json { return nullptr; }};

/// Newer files may say null for no.
constexpr ConfigRow one_direction{"use_bidirectional_attention", "false", config_rows::always<false>,
                                  [](PortableModel&, const json& value) {
                                    if (!value.is_null() && value != false) throw NotExpressible{};
                                  }};

constexpr Absent absent{.head_dim = "256", .kv_heads = "4", .tied_head = "true"};
constexpr auto gemma2_config =
    rows_and(absent, rotary_parameters, embedding_multiplier, gated_activation, attention_bias, score_divisor,
             alternating_layer_types, local_window, soft_cap<&SoftCapSpec::scores>("attn_logit_softcapping", "50.0"),
             logits_cap("30.0"), one_direction, dividing_heads);
constexpr auto gemma3_config =
    rows_and({.head_dim = "256", .kv_heads = "4", .rotary_base = "1e6", .tied_head = "true"}, embedding_multiplier,
             gated_activation, attention_bias, score_divisor, window_pattern, layer_types, local_window,
             local_rotary_base, rotary_by_type, no_scores_cap, logits_cap("null"), one_direction, dividing_heads);

/// How a cache is kept as text is generated, and what hidden_activation and layer_types take the place of.
constexpr std::array<std::string_view, 3> gemma_ignored{"cache_implementation", "hidden_act",
                                                        "_sliding_window_pattern"};

/// The norms behind attention and the MLP have the names that Llama has for those before the MLP.
constexpr auto gemma_tensors = [] {
  std::array<TensorRow, tensors.size() + 2> rows{};
  std::ranges::copy(tensors, rows.begin());
  for (TensorRow& row : rows)
    if (row.ours == "layers.#.mlp_norm.weight") row.theirs = "model.layers.#.pre_feedforward_layernorm.weight";
  rows[tensors.size()] = {"layers.#.attention_post_norm.weight", "model.layers.#.post_attention_layernorm.weight"};
  rows[tensors.size() + 1] = {"layers.#.mlp_post_norm.weight", "model.layers.#.post_feedforward_layernorm.weight"};
  return rows;
}();

constexpr PortableModel gemma_base(bool qk_norm) {
  PortableModel portable = base(false, qk_norm);
  portable.order = BlockOrder::sandwich_norm;
  portable.model.norm.kind = NormKind::zero_centered_rms_norm;
  portable.model.activation = Activation::geglu_tanh;
  return portable;
}

}  // namespace

const Family gemma2{"gemma2",      "Gemma2ForCausalLM", gemma_base(false), gemma2_config,
                    gemma_ignored, gemma_tensors,       buffers,           "model."};
const Family gemma3{"gemma3_text", "Gemma3ForCausalLM", gemma_base(true), gemma3_config,
                    gemma_ignored, gemma_tensors,       buffers,          "model."};

}  // namespace monomorph::train
