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
std::string text_of(Pooling pooling) {
  return word_of(pooling, std::array<std::string_view, 3>{"mean", "first", "last"});
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
template <class T> std::string text_of(const Defaulted<T>& field) { return text_of(field.value); }
template <class T> std::string text_of(const Derived<T>& field) {
  return field.given ? text_of(field.value) : "automatic";
}

template <DescribedSpec Spec> void add_facts(const std::string& prefix, const Spec& spec, std::vector<Fact>& facts) {
  for_each_field(spec, [&](const std::string& name, const auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      add_facts(prefix + name + ".", field, facts);
    else
      facts.push_back({prefix + name, text_of(field)});
  });
}

template <DescribedSpec Spec> std::vector<Fact> facts_of(const Spec& spec) {
  std::vector<Fact> facts;
  add_facts("model.", resolved(spec), facts);
  std::erase_if(facts, [](const Fact& fact) {
    return fact.name == "model.d_ff_multiple";
  });  // all resolved ones have the same
  return facts;
}

}  // namespace

std::vector<Fact> model_facts(const DecoderSpec& model) { return facts_of(model); }

std::vector<Fact> model_facts(const RecipeProgram& recipe) {
  return recipe.encoder != nullptr ? facts_of(*recipe.encoder) : facts_of(*recipe.model);
}

}  // namespace monomorph::train
