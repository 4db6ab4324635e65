#include "support/hugging_face.hpp"

#include <cstring>
#include <stdexcept>

namespace monomorph::testing {
namespace {

/// Where a canonical tensor lies in one of Hugging Face's.
struct Place {
  std::string name;
  bool transposed = false;           // Conv1D's weights are (in, out)
  std::int64_t part = 0, parts = 1;  // c_attn holds queries, keys and values
};

const std::map<std::string, std::string> llama_names{{"embedding.weight", "model.embed_tokens.weight"},
                                                     {"final_norm.weight", "model.norm.weight"},
                                                     {"head.weight", "lm_head.weight"},
                                                     {"attention_norm.weight", "input_layernorm.weight"},
                                                     {"attention.q.weight", "self_attn.q_proj.weight"},
                                                     {"attention.k.weight", "self_attn.k_proj.weight"},
                                                     {"attention.v.weight", "self_attn.v_proj.weight"},
                                                     {"attention.out.weight", "self_attn.o_proj.weight"},
                                                     {"mlp_norm.weight", "post_attention_layernorm.weight"},
                                                     {"mlp.gate.weight", "mlp.gate_proj.weight"},
                                                     {"mlp.up.weight", "mlp.up_proj.weight"},
                                                     {"mlp.down.weight", "mlp.down_proj.weight"}};

const std::map<std::string, Place> gpt2_places{{"embedding.weight", {"transformer.wte.weight"}},
                                               {"position_embedding.weight", {"transformer.wpe.weight"}},
                                               {"final_norm.weight", {"transformer.ln_f.weight"}},
                                               {"final_norm.bias", {"transformer.ln_f.bias"}},
                                               {"attention_norm.weight", {"ln_1.weight"}},
                                               {"attention_norm.bias", {"ln_1.bias"}},
                                               {"attention.q.weight", {"attn.c_attn.weight", true, 0, 3}},
                                               {"attention.k.weight", {"attn.c_attn.weight", true, 1, 3}},
                                               {"attention.v.weight", {"attn.c_attn.weight", true, 2, 3}},
                                               {"attention.q.bias", {"attn.c_attn.bias", false, 0, 3}},
                                               {"attention.k.bias", {"attn.c_attn.bias", false, 1, 3}},
                                               {"attention.v.bias", {"attn.c_attn.bias", false, 2, 3}},
                                               {"attention.out.weight", {"attn.c_proj.weight", true}},
                                               {"attention.out.bias", {"attn.c_proj.bias"}},
                                               {"mlp_norm.weight", {"ln_2.weight"}},
                                               {"mlp_norm.bias", {"ln_2.bias"}},
                                               {"mlp.up.weight", {"mlp.c_fc.weight", true}},
                                               {"mlp.up.bias", {"mlp.c_fc.bias"}},
                                               {"mlp.down.weight", {"mlp.c_proj.weight", true}},
                                               {"mlp.down.bias", {"mlp.c_proj.bias"}}};

/// Of Mixtral, where it differs from Llama; "#" is an expert, whose matrices ours has in one tensor.
const std::map<std::string, std::string> mixtral_names{
    {"mlp.router.weight", "block_sparse_moe.gate.weight"},
    {"mlp.experts.gate.weight", "block_sparse_moe.experts.#.w1.weight"},
    {"mlp.experts.up.weight", "block_sparse_moe.experts.#.w3.weight"},
    {"mlp.experts.down.weight", "block_sparse_moe.experts.#.w2.weight"}};

/// "layers.3.mlp.up.weight" is "3" and "mlp.up.weight"; of a name outside the blocks the first is empty.
std::pair<std::string, std::string> split(const std::string& name) {
  if (!name.starts_with("layers.")) return {"", name};
  const std::size_t dot = name.find('.', 7);
  return {name.substr(7, dot - 7), name.substr(dot + 1)};
}

Place place_of(const std::string& canonical, bool gpt2) {
  const auto [block, name] = split(canonical);
  const auto of_mixtral = mixtral_names.find(name);
  Place place = gpt2                                ? gpt2_places.at(name)
                : of_mixtral != mixtral_names.end() ? Place{of_mixtral->second}
                                                    : Place{llama_names.at(name)};
  if (!block.empty()) place.name = (gpt2 ? "transformer.h." : "model.layers.") + block + "." + place.name;
  return place;
}

Values transposed(const Values& values, std::int64_t rows, std::int64_t cols) {
  Values result(values.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) result[col * rows + row] = values[row * cols + col];
  return result;
}

template <class T> std::vector<T> elements_of(const runtime::SafetensorsFile& file, const runtime::TensorEntry& entry) {
  std::vector<T> elements((entry.end - entry.begin) / sizeof(T));
  std::memcpy(elements.data(), file.data(entry), entry.end - entry.begin);
  return elements;
}

}  // namespace

Values values_of(const runtime::SafetensorsFile& file, const std::string& name) {
  const runtime::TensorEntry& entry = file.at(name);
  if (entry.dtype == runtime::FileDType::f64) return elements_of<double>(file, entry);
  if (entry.dtype != runtime::FileDType::f32) throw std::invalid_argument(name + " is neither F32 nor F64");
  const std::vector<float> elements = elements_of<float>(file, entry);
  return {elements.begin(), elements.end()};
}

std::vector<std::int32_t> ids_of(const runtime::SafetensorsFile& file, const std::string& name) {
  const runtime::TensorEntry& entry = file.at(name);
  if (entry.dtype != runtime::FileDType::i64) throw std::invalid_argument(name + " is not I64");
  const std::vector<std::int64_t> elements = elements_of<std::int64_t>(file, entry);
  return {elements.begin(), elements.end()};
}

namespace {
/// Of a tensor, or one expert after the other.
Values values_of_all(const runtime::SafetensorsFile& file, const std::string& name) {
  const std::size_t place = name.find('#');
  if (place == std::string::npos) return values_of(file, name);
  Values all;
  for (int expert = 0;; ++expert) {
    const std::string of_expert = std::string(name).replace(place, 1, std::to_string(expert));
    if (file.find(of_expert) == nullptr) return all;
    const Values values = values_of(file, of_expert);
    all.insert(all.end(), values.begin(), values.end());
  }
}
}  // namespace

Tensors hugging_face_tensors(const runtime::SafetensorsFile& file, const std::string& prefix,
                             const std::vector<train::StateTensor>& like) {
  const bool gpt2 = file.find(prefix + "transformer.wte.weight") != nullptr;
  Tensors tensors;
  for (const train::StateTensor& tensor : like) {
    const std::string& canonical = tensor.name;
    const Place place = place_of(canonical, gpt2);
    const std::string name = prefix + place.name;
    Values values = values_of_all(file, name);
    if (place.transposed) {
      const auto& shape = file.at(name).shape;
      values = transposed(values, shape.at(0), shape.at(1));
    }
    const auto length = static_cast<std::ptrdiff_t>(tensor.view.elements());
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(values.size()) / place.parts * place.part;
    if (values.end() - first < length) throw std::invalid_argument("too small for " + canonical);
    tensors[canonical] = Values(first, first + length);
  }
  return tensors;
}

}  // namespace monomorph::testing
