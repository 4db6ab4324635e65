#include "train/run/weights/gguf_tensors.hpp"

#include "train/weights/stream_elements.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/rotary_frequencies.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace monomorph::train {
namespace {

using runtime::ByteSink, runtime::GgufDType, runtime::GgufTensor;

/// Canonical names, with "#" for the number of a block, and llama.cpp's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 31> tensor_names{
    {{"embedding.weight", "token_embd.weight"},
     {"position_embedding.weight", "position_embd.weight"},
     {"final_norm.weight", "output_norm.weight"},
     {"final_norm.bias", "output_norm.bias"},
     {"head.weight", "output.weight"},
     {"layers.#.attention_norm.weight", "blk.#.attn_norm.weight"},
     {"layers.#.attention_norm.bias", "blk.#.attn_norm.bias"},
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
     {"layers.#.attention_post_norm.weight", "blk.#.post_attention_norm.weight"},
     {"layers.#.mlp_norm.weight", "blk.#.ffn_norm.weight"},
     {"layers.#.mlp_norm.bias", "blk.#.ffn_norm.bias"},
     {"layers.#.mlp.gate.weight", "blk.#.ffn_gate.weight"},
     {"layers.#.mlp.gate.bias", "blk.#.ffn_gate.bias"},
     {"layers.#.mlp.up.weight", "blk.#.ffn_up.weight"},
     {"layers.#.mlp.up.bias", "blk.#.ffn_up.bias"},
     {"layers.#.mlp.down.weight", "blk.#.ffn_down.weight"},
     {"layers.#.mlp.down.bias", "blk.#.ffn_down.bias"},
     {"layers.#.mlp_post_norm.weight", "blk.#.post_ffw_norm.weight"},
     {"layers.#.mlp.router.weight", "blk.#.ffn_gate_inp.weight"},
     {"layers.#.mlp.experts.gate.weight", "blk.#.ffn_gate_exps.weight"},
     {"layers.#.mlp.experts.up.weight", "blk.#.ffn_up_exps.weight"},
     {"layers.#.mlp.experts.down.weight", "blk.#.ffn_down_exps.weight"}}};

/// Whether it is of queries, keys or values: "layers.3.attention.q.weight".
bool is_of(std::string_view name, std::string_view letters) {
  const std::size_t at = name.rfind(".attention.");
  return at != std::string_view::npos && name.size() > at + 12 && name[at + 12] == '.' &&
         letters.find(name[at + 11]) != std::string_view::npos;
}

/// "blk.3.attn_q.weight" of "layers.3.attention.q.weight".
std::string name_there(const RecipeProgram& recipe, const GgufArchitecture& architecture, const std::string& name) {
  const std::string pattern = pattern_of(name);
  const auto found = std::ranges::find(tensor_names, pattern, &std::pair<std::string_view, std::string_view>::first);
  if (found == tensor_names.end()) refuse_gguf_model(recipe, "the tensor " + name);
  std::string there(found->second);
  if (architecture.joins_qkv && is_of(name, "qkv")) there.replace(there.find("attn_") + 5, 1, "qkv");
  if (const std::size_t number = pattern.find('#'); number != std::string::npos)
    there.replace(there.find('#'), 1, name.substr(number, name.find('.', number) - number));
  return there;
}

DType dtype_there(const CanonicalTensor& tensor, DType dtype) {
  const bool is_small =
      tensor.shape.rows == 1 || tensor.name.ends_with("router.weight") || tensor.name == position_table;
  return is_small ? DType::fp32 : dtype;
}
GgufDType gguf_dtype(DType dtype) {
  return dtype == DType::bf16 ? GgufDType::bf16 : dtype == DType::fp16 ? GgufDType::f16 : GgufDType::f32;
}

/// Of tensors one below the other.
std::vector<std::int64_t> shape_there(std::span<const CanonicalTensor> parts) {
  const auto [rows, cols] = parts.front().shape;
  if (parts.front().matrices > 1) return {parts.front().matrices, rows / parts.front().matrices, cols};
  std::int64_t elements = 0;
  for (const CanonicalTensor& part : parts) elements += part.shape.elements();
  return rows == 1 ? std::vector{elements} : std::vector{elements / cols, cols};
}

/// Gives a matrix of queries or keys with the rows of each head in the order 0, H/2, 1, H/2 + 1, …
void give_interleaved(CheckpointWeights& weights, const CanonicalTensor& tensor, std::int64_t head_width, DType dtype,
                      WrittenNumbers& written, const ByteSink& sink) {
  const bool is_vector = tensor.shape.rows == 1;
  const std::int64_t cols = is_vector ? 1 : tensor.shape.cols, elements = head_width * cols;
  const auto row_bytes = static_cast<std::size_t>(cols * size_of(dtype));
  std::vector<std::byte> head, moved(static_cast<std::size_t>(head_width) * row_bytes);
  for (std::int64_t first = 0; first < tensor.shape.elements(); first += elements) {
    const View rows = sized(head, dtype, {1, elements});
    weights.read(tensor.name, first, rows);
    written.count(tensor.name, rows, [&](View numbers) { weights.read(tensor.name, first, numbers); });
    for (std::int64_t row = 0; row < head_width; ++row) {
      const std::int64_t from = row / 2 + row % 2 * (head_width / 2);
      std::memcpy(&moved[static_cast<std::size_t>(row) * row_bytes], &head[static_cast<std::size_t>(from) * row_bytes],
                  row_bytes);
    }
    sink(moved);
  }
}

/// Numbers there are (ours + added) · factor.
struct Change {
  float added = 0, factor = 1;
  friend bool operator==(const Change&, const Change&) = default;
};

Change change_of(const DecoderSpec& model, std::string_view name, double query_scale) {
  const bool is_norm = name.ends_with("norm.weight"),
             is_of_queries = model.qk_norm ? name.ends_with(".q_norm.weight") : is_of(name, "q");
  return {.added = is_norm && model.norm.kind == NormKind::zero_centered_rms_norm ? 1.0F : 0.0F,
          .factor = is_of_queries ? static_cast<float>(query_scale) : 1.0F};
}

void give_changed(CheckpointWeights& weights, const CanonicalTensor& tensor, const Change& change, DType dtype,
                  WrittenNumbers& written, const ByteSink& sink) {
  std::vector<std::byte> numbers, converted;
  in_bounded_pieces(tensor.shape.elements(), [&](std::int64_t first, std::int64_t n) {
    const View view = sized(numbers, DType::fp32, {1, n});
    weights.read(tensor.name, first, view);
    for (float& number : std::span(reinterpret_cast<float*>(numbers.data()), static_cast<std::size_t>(n)))
      number = (number + change.added) * change.factor;
    const View changed = sized(converted, dtype, {1, n});
    cpu::copy(cpu::Queue{}, view, changed);
    written.count(tensor.name, changed, [&](View there) { weights.read(tensor.name, first, there); });
    sink(converted);
  });
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

}  // namespace

std::vector<GgufTensor> gguf_tensors(const RecipeProgram& recipe, const GgufArchitecture& architecture,
                                     CheckpointWeights& weights, DType matrices, WrittenNumbers& written) {
  const DecoderSpec& model = *recipe.model;
  std::map<std::string, std::vector<CanonicalTensor>> parts_by_name;
  for (const CanonicalTensor& tensor : base_tensors(recipe))
    parts_by_name[name_there(recipe, architecture, tensor.name)].push_back(tensor);
  const double query_scale = gguf_query_scale(architecture, model);
  std::vector<GgufTensor> tensors;
  for (const auto& [name, parts] : parts_by_name) {
    const DType dtype = dtype_there(parts.front(), matrices);
    const auto give = [=, &weights, &model, &written, parts = parts,
                       interleaves = architecture.interleaves](const ByteSink& sink) {
      for (const CanonicalTensor& part : parts) {
        const Change change = change_of(model, part.name, query_scale);
        if (change != Change{})
          give_changed(weights, part, change, dtype, written, sink);
        else if (interleaves && is_of(part.name, "qk"))
          give_interleaved(weights, part, model.head_width(), dtype, written, sink);
        else
          stream_elements(weights, part.name, 0, part.shape.elements(), dtype, written, sink);
      }
    };
    tensors.push_back({name, gguf_dtype(dtype), shape_there(parts), give});
  }
  if (has_rotary_factors(model)) tensors.push_back(rotary_factors(model));
  std::ranges::sort(tensors, {}, &GgufTensor::name);
  return tensors;
}

}  // namespace monomorph::train
