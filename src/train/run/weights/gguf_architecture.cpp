#include "train/run/weights/gguf_architecture.hpp"

#include "train/weights/family.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace monomorph::train {
namespace {

constexpr std::array<GgufArchitecture, 8> architectures{
    {{.model_type = "gpt2", .name = "gpt2", .joins_qkv = true},
     {.model_type = "llama", .name = "llama", .interleaves = true},
     {.model_type = "mistral", .name = "llama", .interleaves = true},
     {.model_type = "mixtral", .name = "llama", .interleaves = true},
     {.model_type = "qwen2", .name = "qwen2"},
     {.model_type = "qwen3", .name = "qwen3"},
     {.model_type = "gemma2", .name = "gemma2", .has_local_layers = true},
     {.model_type = "gemma3_text", .name = "gemma3", .has_local_layers = true}}};

/// One layer in so many sees all, the last of them; nothing if layers are not so.
std::optional<std::int64_t> period_of(const LocalLayers& local, std::int64_t n_layers) {
  std::int64_t period = 1;
  while (period <= n_layers && local.layers.test(static_cast<std::size_t>(period - 1))) ++period;
  for (std::int64_t layer = 0; layer < n_layers; ++layer)
    if (local.layers.test(static_cast<std::size_t>(layer)) == ((layer + 1) % period == 0)) return std::nullopt;
  return period;
}

/// Which is fixed there in gemma2.
constexpr std::int64_t period_of_gemma2 = 2;

std::string_view lacking_of_local_layers(const GgufArchitecture& architecture, const PortableModel& portable) {
  const DecoderSpec& model = portable.model;
  const bool is_gemma2 = architecture.name == "gemma2";
  if (!model.tied_head || model.bias.qkv || model.bias.attention_out) return "a head of its own or biases of attention";
  if (model.activation != Activation::geglu_tanh) return "another activation than GELU by tanh";
  if (is_gemma2 ? model.soft_cap.scores == 0 || model.soft_cap.logits == 0 : model.soft_cap != SoftCapSpec{})
    return is_gemma2 ? "no cap of scores or of logits" : "a cap of logits";
  if (!portable.local) return "no layers with a window";
  const auto period = period_of(*portable.local, model.n_layers);
  if (!period || (is_gemma2 && *period != period_of_gemma2)) return "these layers with a window";
  const RotarySpec& local = portable.local->rotary;
  if (is_gemma2 ? local != model.rotary : local != RotarySpec{.base = local.base})
    return "these rotary positions in layers with a window";
  return "";
}

/// What llama.cpp can't compute; empty if it can. A file with tensors that an architecture does not ask for, as others
/// than llama do not for factors of frequencies, nor qwen3 for a bias behind attention, it does not load.
std::string_view lacking(const GgufArchitecture& architecture, const PortableModel& portable) {
  const auto& [base, llama3, linear, dynamic, yarn] = portable.model.rotary;
  if (dynamic.original_context.given) return "dynamic scaling of rotary positions";
  const YarnRotaryScaling usual{.factor = yarn.factor, .original_context = yarn.original_context};
  if (yarn.factor != 1 && yarn != usual) return "options of YaRN besides its factor and its original context";
  if (has_rotary_factors(portable.model) && architecture.name != "llama")
    return "rotary positions scaled as Llama 3 does it and is no Llama";
  if (portable.mask != AttentionMask{.before = portable.mask.before}) return "attention that looks ahead";
  if (architecture.name == "qwen3" && portable.model.bias.attention_out) return "a bias of attention's output";
  if (architecture.joins_qkv && portable.model.activation != Activation::gelu_tanh)
    return "another activation than GELU by tanh";
  return architecture.has_local_layers ? lacking_of_local_layers(architecture, portable) : "";
}

class Metadata {
 public:
  explicit Metadata(std::string_view architecture) : prefix_(fmt::format("{}.", architecture)) {}
  void add(std::string_view name, std::int64_t value) { all.add(key(name), static_cast<std::uint32_t>(value)); }
  void add_number(std::string_view name, double value) { all.add(key(name), static_cast<float>(value)); }
  void add_text(std::string_view name, std::string_view value) { all.add(key(name), value); }

  runtime::GgufMetadata all;

 private:
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  std::string prefix_;
};

/// llama.cpp's number for a file whose tensors mostly have this dtype.
std::uint32_t file_type(DType dtype) { return dtype == DType::bf16 ? 32 : dtype == DType::fp16 ? 1 : 0; }

/// A window that all layers have: within as many tokens it changes nothing.
std::int64_t context_of(const PortableModel& portable, std::vector<std::string>& notes) {
  const std::int64_t context = portable.model.context_length;
  if (portable.mask.before + 1 >= context) return context;
  const std::int64_t window = portable.mask.before + 1;
  notes.push_back(
      fmt::format("llama.cpp knows no window of attention for this model, so that the file has a context of {} "
                  "tokens, up to which it computes the same, and not {}",
                  window, context));
  return window;
}

void add_scaling(const RotarySpec& rotary, Metadata& metadata) {
  const auto add = [&](std::string_view type, double factor) {
    metadata.add_text("rope.scaling.type", type);
    metadata.add_number("rope.scaling.factor", factor);
  };
  if (rotary.linear.factor != 1) add("linear", rotary.linear.factor);
  if (rotary.yarn.factor == 1) return;
  add("yarn", rotary.yarn.factor);
  metadata.add("rope.scaling.original_context_length", rotary.yarn.original_context);
}

void add_local_layers(const GgufArchitecture& architecture, const PortableModel& portable, Metadata& metadata) {
  const LocalLayers& local = *portable.local;
  metadata.add("attention.sliding_window", local.mask.before + 1);
  if (architecture.name == "gemma2") {
    metadata.add_number("attn_logit_softcapping", portable.model.soft_cap.scores);
    metadata.add_number("final_logit_softcapping", portable.model.soft_cap.logits);
    return;
  }
  metadata.add("attention.sliding_window_pattern", *period_of(local, portable.model.n_layers));
  metadata.add_number("rope.freq_base_swa", local.rotary.base);
}

void add_norm_and_positions(const GgufArchitecture& architecture, const PortableModel& portable, Metadata& metadata) {
  const DecoderSpec& model = portable.model;
  if (model.position == Position::learned)
    return metadata.add_number("attention.layer_norm_epsilon", model.norm.epsilon);
  metadata.add_number("attention.layer_norm_rms_epsilon", model.norm.epsilon);
  metadata.add("rope.dimension_count", model.head_width());
  metadata.add_number("rope.freq_base", model.rotary.base);
  add_scaling(model.rotary, metadata);
  if (architecture.has_local_layers) add_local_layers(architecture, portable, metadata);
}

}  // namespace

void refuse_gguf_model(const RecipeProgram& recipe, std::string_view feature) {
  throw UsageError("GGUF-01", fmt::format("llama.cpp can't compute {}, which has {}; export to a folder with --output, "
                                          "or change the recipe",
                                          recipe.name, feature));
}

const GgufArchitecture& gguf_architecture(const RecipeProgram& recipe, const PortableModel& portable) {
  const std::string_view model_type = family_computing(recipe).model_type;
  const auto found = std::ranges::find(architectures, model_type, &GgufArchitecture::model_type);
  if (found == architectures.end()) refuse_gguf_model(recipe, fmt::format("a model of the family {}", model_type));
  if (const std::string_view feature = lacking(*found, portable); !feature.empty()) refuse_gguf_model(recipe, feature);
  return *found;
}

bool has_rotary_factors(const DecoderSpec& model) {
  return model.position == Position::rotary && model.rotary.scaling.factor != 1;
}

double gguf_query_scale(const GgufArchitecture& architecture, const DecoderSpec& model) {
  if (!architecture.has_local_layers || !model.multiplier.attention.given) return 1;
  // By their numbers of layers it knows the largest published ones, whose scores have another divisor.
  const std::int64_t layers_of_largest = architecture.name == "gemma2" ? 46 : 62;
  const std::int64_t divisor = model.n_layers == layers_of_largest ? model.d_model / model.n_heads : model.head_width();
  return model.multiplier.attention.value * std::sqrt(static_cast<double>(divisor));
}

runtime::GgufMetadata gguf_metadata(const GgufArchitecture& architecture, const PortableModel& portable, DType dtype,
                                    std::vector<std::string>& notes) {
  const DecoderSpec& model = portable.model;
  Metadata metadata(architecture.name);
  metadata.all.add("general.architecture", architecture.name);
  metadata.all.add("general.file_type", file_type(dtype));
  metadata.add("vocab_size", model.vocab_size);
  metadata.add("context_length", context_of(portable, notes));
  metadata.add("embedding_length", model.d_model);
  metadata.add("block_count", model.n_layers);
  metadata.add("feed_forward_length", model.ff_width());
  metadata.add("attention.head_count", model.n_heads);
  metadata.add("attention.head_count_kv", model.kv_heads());
  metadata.add("attention.key_length", model.head_width());
  metadata.add("attention.value_length", model.head_width());
  add_norm_and_positions(architecture, portable, metadata);
  if (!portable.mixture) return metadata.all;
  metadata.add("expert_count", portable.mixture->n_experts);
  metadata.add("expert_used_count", portable.mixture->top_k);
  return metadata.all;
}

}  // namespace monomorph::train
