#include "train/run/weights/export_gguf.hpp"

#include "train/run/weights/gguf_tokenizer.hpp"
#include "train/weights/family.hpp"
#include "train/weights/merged_weights.hpp"
#include "train/weights/stream_elements.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/files/gguf.hpp>
#include <monomorph/runtime/kernels/rotary_frequencies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

using runtime::ByteSink, runtime::GgufDType, runtime::GgufTensor;

/// What llama.cpp computes for a family.
struct Architecture {
  std::string_view model_type, name;
  bool interleaves;  ///< pairs of features that turn together lie side by side, so that rows of queries and keys move
};
constexpr std::array<Architecture, 5> architectures{{{"llama", "llama", true},
                                                     {"mistral", "llama", true},
                                                     {"mixtral", "llama", true},
                                                     {"qwen2", "qwen2", false},
                                                     {"qwen3", "qwen3", false}}};

[[noreturn]] void refuse(const RecipeProgram& recipe, std::string_view feature) {
  throw UsageError("GGUF-01", fmt::format("llama.cpp can't compute {}, which has {}; export to a folder with --output, "
                                          "or change the recipe",
                                          recipe.name, feature));
}

const Architecture& architecture_of(const RecipeProgram& recipe) {
  const std::string_view model_type = family_for(recipe).model_type;
  const auto found = std::ranges::find(architectures, model_type, &Architecture::model_type);
  if (found == architectures.end()) refuse(recipe, fmt::format("a model of the family {}", model_type));
  return *found;
}

void check_expressible(const RecipeProgram& recipe, const PortableModel& portable) {
  const auto& [base, llama3, linear, dynamic, yarn] = portable.model.rotary;
  if (portable.mask != AttentionMask{} || portable.local) refuse(recipe, "a window of attention");
  if (dynamic.original_context.given) refuse(recipe, "dynamic scaling of rotary positions");
  const YarnRotaryScaling usual{.factor = yarn.factor, .original_context = yarn.original_context};
  if (yarn.factor != 1 && yarn != usual) refuse(recipe, "options of YaRN besides its factor and its original context");
}

/// Canonical names, with "#" for the number of a block, and llama.cpp's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 25> tensor_names{
    {{"embedding.weight", "token_embd.weight"},
     {"final_norm.weight", "output_norm.weight"},
     {"head.weight", "output.weight"},
     {"layers.#.attention_norm.weight", "blk.#.attn_norm.weight"},
     {"layers.#.attention.q.weight", "blk.#.attn_q.weight"},
     {"layers.#.attention.k.weight", "blk.#.attn_k.weight"},
     {"layers.#.attention.v.weight", "blk.#.attn_v.weight"},
     {"layers.#.attention.q.bias", "blk.#.attn_q.bias"},
     {"layers.#.attention.k.bias", "blk.#.attn_k.bias"},
     {"layers.#.attention.v.bias", "blk.#.attn_v.bias"},
     {"layers.#.attention.q_norm.weight", "blk.#.attn_q_norm.weight"},
     {"layers.#.attention.k_norm.weight", "blk.#.attn_k_norm.weight"},
     {"layers.#.attention.out.weight", "blk.#.attn_output.weight"},
     {"layers.#.attention.out.bias", "blk.#.attn_output.bias"},
     {"layers.#.mlp_norm.weight", "blk.#.ffn_norm.weight"},
     {"layers.#.mlp.gate.weight", "blk.#.ffn_gate.weight"},
     {"layers.#.mlp.gate.bias", "blk.#.ffn_gate.bias"},
     {"layers.#.mlp.up.weight", "blk.#.ffn_up.weight"},
     {"layers.#.mlp.up.bias", "blk.#.ffn_up.bias"},
     {"layers.#.mlp.down.weight", "blk.#.ffn_down.weight"},
     {"layers.#.mlp.down.bias", "blk.#.ffn_down.bias"},
     {"layers.#.mlp.router.weight", "blk.#.ffn_gate_inp.weight"},
     {"layers.#.mlp.experts.gate.weight", "blk.#.ffn_gate_exps.weight"},
     {"layers.#.mlp.experts.up.weight", "blk.#.ffn_up_exps.weight"},
     {"layers.#.mlp.experts.down.weight", "blk.#.ffn_down_exps.weight"}}};

/// "blk.3.attn_q.weight" of "layers.3.attention.q.weight".
std::string name_there(const RecipeProgram& recipe, const std::string& name) {
  const std::string pattern = pattern_of(name);
  const auto found = std::ranges::find(tensor_names, pattern, &std::pair<std::string_view, std::string_view>::first);
  if (found == tensor_names.end()) refuse(recipe, "the tensor " + name);
  std::string there(found->second);
  if (const std::size_t number = pattern.find('#'); number != std::string::npos)
    there.replace(there.find('#'), 1, name.substr(number, name.find('.', number) - number));
  return there;
}

DType dtype_there(const CanonicalTensor& tensor, DType dtype) {
  const bool is_small = tensor.shape.rows == 1 || tensor.name.ends_with("router.weight");
  return is_small ? DType::fp32 : dtype;
}
GgufDType gguf_dtype(DType dtype) {
  return dtype == DType::bf16 ? GgufDType::bf16 : dtype == DType::fp16 ? GgufDType::f16 : GgufDType::f32;
}
/// llama.cpp's number for a file whose tensors mostly have this dtype.
std::uint32_t file_type(DType dtype) { return dtype == DType::bf16 ? 32 : dtype == DType::fp16 ? 1 : 0; }

std::vector<std::int64_t> shape_there(const CanonicalTensor& tensor) {
  const auto [rows, cols] = tensor.shape;
  if (tensor.matrices > 1) return {tensor.matrices, rows / tensor.matrices, cols};
  return rows == 1 ? std::vector{cols} : std::vector{rows, cols};
}

/// Gives a matrix of queries or keys with the rows of each head in the order 0, H/2, 1, H/2 + 1, …
void give_interleaved(CheckpointWeights& weights, const CanonicalTensor& tensor, std::int64_t head_width, DType dtype,
                      const ByteSink& sink) {
  const bool is_vector = tensor.shape.rows == 1;
  const std::int64_t cols = is_vector ? 1 : tensor.shape.cols, elements = head_width * cols;
  const auto row_bytes = static_cast<std::size_t>(cols * size_of(dtype));
  std::vector<std::byte> head, moved(static_cast<std::size_t>(head_width) * row_bytes);
  for (std::int64_t first = 0; first < tensor.shape.elements(); first += elements) {
    weights.read(tensor.name, first, sized(head, dtype, {1, elements}));
    for (std::int64_t row = 0; row < head_width; ++row) {
      const std::int64_t from = row / 2 + row % 2 * (head_width / 2);
      std::memcpy(&moved[static_cast<std::size_t>(row) * row_bytes], &head[static_cast<std::size_t>(from) * row_bytes],
                  row_bytes);
    }
    sink(moved);
  }
}

bool is_turned(std::string_view name) {
  return name.ends_with(".q.weight") || name.ends_with(".k.weight") || name.ends_with(".q.bias") ||
         name.ends_with(".k.bias");
}

/// By which llama.cpp divides the frequencies, where they are scaled as Llama 3 does it.
GgufTensor rotary_factors(const DecoderSpec& model) {
  const std::int64_t half = model.head_width() / 2;
  std::vector<float> factors;
  const auto plain = cpu::rotary_frequencies({.base = model.rotary.base}, half, model.context_length),
             scaled = cpu::rotary_frequencies(model.rotary, half, model.context_length);
  for (std::size_t i = 0; i < plain.frequency_H.size(); ++i)
    factors.push_back(static_cast<float>(plain.frequency_H[i] / scaled.frequency_H[i]));
  return {"rope_freqs.weight", GgufDType::f32, {half}, [factors](const ByteSink& sink) {
            sink(std::as_bytes(std::span(factors)));
          }};
}

std::vector<GgufTensor> tensors_of(const RecipeProgram& recipe, const Architecture& architecture,
                                   CheckpointWeights& weights, DType matrices) {
  std::vector<GgufTensor> tensors;
  for (const CanonicalTensor& tensor : base_tensors(recipe)) {
    const DType dtype = dtype_there(tensor, matrices);
    const bool moves = architecture.interleaves && is_turned(tensor.name);
    tensors.push_back({name_there(recipe, tensor.name), gguf_dtype(dtype), shape_there(tensor),
                       [&weights, tensor, dtype, moves, width = recipe.model->head_width()](const ByteSink& sink) {
                         if (moves)
                           give_interleaved(weights, tensor, width, dtype, sink);
                         else
                           stream_elements(weights, tensor.name, 0, tensor.shape.elements(), dtype, sink);
                       }});
  }
  if (recipe.model->rotary.scaling.factor != 1) tensors.push_back(rotary_factors(*recipe.model));
  std::ranges::sort(tensors, {}, &GgufTensor::name);
  return tensors;
}

void add_scaling(const RotarySpec& rotary, const std::string& prefix, runtime::GgufMetadata& metadata) {
  const auto add = [&](std::string_view type, double factor) {
    metadata.add(prefix + "type", type);
    metadata.add(prefix + "factor", static_cast<float>(factor));
  };
  if (rotary.linear.factor != 1) add("linear", rotary.linear.factor);
  if (rotary.yarn.factor == 1) return;
  add("yarn", rotary.yarn.factor);
  metadata.add(prefix + "original_context_length", static_cast<std::uint32_t>(rotary.yarn.original_context));
}

runtime::GgufMetadata metadata_of(const PortableModel& portable, std::string_view architecture, DType dtype) {
  const DecoderSpec& model = portable.model;
  runtime::GgufMetadata metadata;
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", architecture, name); };
  const auto add = [&](std::string_view name, std::int64_t value) {
    metadata.add(key(name), static_cast<std::uint32_t>(value));
  };
  metadata.add("general.architecture", architecture);
  metadata.add("general.file_type", file_type(dtype));
  add("vocab_size", model.vocab_size);
  add("context_length", model.context_length);
  add("embedding_length", model.d_model);
  add("block_count", model.n_layers);
  add("feed_forward_length", model.ff_width());
  add("attention.head_count", model.n_heads);
  add("attention.head_count_kv", model.kv_heads());
  add("attention.key_length", model.head_width());
  add("attention.value_length", model.head_width());
  metadata.add(key("attention.layer_norm_rms_epsilon"), static_cast<float>(model.norm.epsilon));
  add("rope.dimension_count", model.head_width());
  metadata.add(key("rope.freq_base"), static_cast<float>(model.rotary.base));
  add_scaling(model.rotary, key("rope.scaling."), metadata);
  if (!portable.mixture) return metadata;
  add("expert_count", portable.mixture->n_experts);
  add("expert_used_count", portable.mixture->top_k);
  return metadata;
}

}  // namespace

std::string export_gguf(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& file,
                        DType dtype, const data::Tokenizer* tokenizer) {
  const Architecture& architecture = architecture_of(recipe);
  const PortableModel portable = portable_model(recipe);
  check_expressible(recipe, portable);
  runtime::GgufMetadata metadata = metadata_of(portable, architecture.name, dtype);
  if (tokenizer != nullptr)
    add_tokenizer(*tokenizer, portable.model.vocab_size, metadata);
  else
    metadata.add("tokenizer.ggml.model", std::string_view("none"));
  MergedWeights weights(checkpoint, recipe);
  runtime::write_gguf(file, metadata, tensors_of(recipe, architecture, weights, dtype));
  return fmt::format("{}: {} weights, as llama.cpp's {}", file, name_of(dtype), architecture.name);
}

}  // namespace monomorph::train
