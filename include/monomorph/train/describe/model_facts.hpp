#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/type_name.hpp>
#include <monomorph/spec/encoder_spec.hpp>
#include <monomorph/train/describe/fact.hpp>
#include <string_view>
#include <type_traits>
#include <vector>

/// The fields of a recipe's model as text, for `describe` and for checkpoints. Those of the kinds in the tree are
/// compiled once; a kind of a user's own is walked here, where a field may be a spec in the tree.
namespace monomorph::train {

std::string text_of(bool value);
std::string text_of(std::int64_t value);
std::string text_of(double value);
std::string text_of(NormKind kind);
std::string text_of(Activation activation);
std::string text_of(Position position);
std::string text_of(Pooling pooling);
std::string text_of(AttentionKernel kernel);
std::string text_of(InitializationScheme scheme);
template <class Integer>
requires std::is_integral_v<Integer> std::string text_of(Integer value) {
  return text_of(static_cast<std::int64_t>(value));
}
/// An enumeration of a user's own has a function name_of, or else is a number.
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  if constexpr (requires { std::string(name_of(value)); })
    return std::string(name_of(value));
  else
    return text_of(static_cast<std::int64_t>(value));
}
template <class T> std::string text_of(const Required<T>& field) { return text_of(field.value); }
template <class T> std::string text_of(const Defaulted<T>& field) { return text_of(field.value); }
template <class T> std::string text_of(const Derived<T>& field) {
  return field.given ? text_of(field.value) : "automatic";
}

/// Adds a fact of each field, every size given that is left to be derived.   @param prefix of their names: "model."
void add_facts(const std::string& prefix, const DecoderSpec& model, std::vector<Fact>& facts);
void add_facts(const std::string& prefix, const EncoderSpec& model, std::vector<Fact>& facts);
template <DescribedSpec Spec> void add_facts(const std::string& prefix, const Spec& spec, std::vector<Fact>& facts) {
  for_each_field(spec, [&](const std::string& name, const auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      add_facts(prefix + name + ".", field, facts);
    else
      facts.push_back({prefix + name, text_of(field)});
  });
}

/// What `describe` says of a model besides the sizes of its trunk. Of a kind of a user's own: its name, and its fields
/// that are not specs.
std::vector<Fact> facts_beside_trunk(const DecoderSpec& model);
std::vector<Fact> facts_beside_trunk(const EncoderSpec& model);
template <DescribedSpec Spec> std::vector<Fact> facts_beside_trunk(const Spec& spec) {
  std::vector<Fact> facts{{"kind", std::string(type_name<Spec>())}};
  for_each_field(spec, [&](const std::string& name, const auto& field) {
    if constexpr (!DescribedSpec<std::remove_cvref_t<decltype(field)>>) facts.push_back({name, text_of(field)});
  });
  return facts;
}

template <class Spec> std::vector<Fact> model_facts(const Spec& spec) {
  std::vector<Fact> facts;
  if constexpr (!kind_came_first<Spec>) facts.push_back({"model.kind", std::string(type_name<Spec>())});
  add_facts("model.", spec, facts);
  return facts;
}

/// What a recipe's program says of its model.
struct DescribedModel {
  std::string_view kind;  ///< the type of its spec
  std::vector<Fact> facts, beside_trunk;
};
template <class Spec> DescribedModel described_model(const Spec& spec) {
  return {.kind = type_name<Spec>(), .facts = model_facts(spec), .beside_trunk = facts_beside_trunk(spec)};
}

}  // namespace monomorph::train
