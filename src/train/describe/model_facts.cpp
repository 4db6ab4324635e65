#include "train/describe/model_facts.hpp"

#include <monomorph/spec/resolved.hpp>

#include <fmt/format.h>
#include <array>

namespace monomorph::train {
namespace {

template <class Enum, std::size_t n> std::string word_of(Enum value, const std::array<std::string_view, n>& words) {
  return std::string(words[static_cast<std::size_t>(value)]);
}
std::string text_of(NormKind kind) { return word_of(kind, std::array<std::string_view, 2>{"layer_norm", "rms_norm"}); }
std::string text_of(Activation activation) {
  return word_of(activation, std::array<std::string_view, 4>{"gelu_exact", "gelu_tanh", "relu_squared", "swiglu"});
}
std::string text_of(Position position) {
  return word_of(position, std::array<std::string_view, 3>{"learned", "rotary", "none"});
}
std::string text_of(AttentionKernel kernel) {
  return word_of(kernel, std::array<std::string_view, 2>{"tiled", "reference"});
}
std::string text_of(InitializationScheme scheme) {
  return word_of(scheme, std::array<std::string_view, 4>{"plain", "depth_scaled", "scaled_embedding", "llama3"});
}
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
template <class T> std::string text_of(const Required<T>& field) { return text_of(field.value); }
template <class T> std::string text_of(const Derived<T>& field) {
  return field.given ? text_of(field.value) : "automatic";
}

class Facts {
 public:
  template <class... Values>
  void add(const std::string& prefix, const std::array<const char*, sizeof...(Values)>& names,
           const Values&... values) {
    std::size_t i = 0;
    (list_.push_back({prefix + names[i++], text_of(values)}), ...);
  }
  std::vector<Fact> take() { return std::move(list_); }

 private:
  std::vector<Fact> list_;
};

void add_parts(const ModelSpec& model, Facts& facts) {
  const auto& [kind, epsilon, norm_bias] = model.norm;
  facts.add("model.norm.", {"kind", "epsilon", "bias"}, kind, epsilon, norm_bias);
  const auto& [base, scaling] = model.rotary;
  const auto& [factor, low, high, original_context] = scaling;
  facts.add("model.rotary.", {"base"}, base);
  facts.add("model.rotary.scaling.", {"factor", "low_frequency_factor", "high_frequency_factor", "original_context"},
            factor, low, high, original_context);
  const auto& [qkv, attention_out, mlp] = model.bias;
  facts.add("model.bias.", {"qkv", "attention_out", "mlp"}, qkv, attention_out, mlp);
  const auto& [embedding, attention, residual] = model.dropout;
  facts.add("model.dropout.", {"embedding", "attention", "residual"}, embedding, attention, residual);
  const auto& [scheme, std] = model.initialization;
  facts.add("model.initialization.", {"scheme", "std"}, scheme, std);
}

}  // namespace

std::vector<Fact> model_facts(const ModelSpec& given) {
  const ModelSpec model = resolved(given);
  // As in the fingerprint, a new field does not compile until it is added here.
  const auto& [vocab_size, n_layers, n_heads, d_model, context_length, n_kv_heads, head_dim, d_ff, d_ff_multiple,
               vocab_multiple, norm, qk_norm, activation, position, rotary, bias, tied_head, dropout, attention_kernel,
               initialization] = model;
  Facts facts;
  facts.add("model.",
            {"vocab_size", "n_layers", "n_heads", "d_model", "context_length", "n_kv_heads", "head_dim", "d_ff",
             "vocab_multiple", "qk_norm", "activation", "position", "tied_head", "attention_kernel"},
            vocab_size, n_layers, n_heads, d_model, context_length, n_kv_heads, head_dim, d_ff, vocab_multiple, qk_norm,
            activation, position, tied_head, attention_kernel);
  add_parts(model, facts);
  return facts.take();
}

}  // namespace monomorph::train
