#pragma once
#include "train/weights/family.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

/// Rows of config.json that several families have under one name or another.
namespace monomorph::train::config_rows {

/// A number of elements. What is larger than any model has would overflow where sizes are derived from it.
inline std::int64_t size_from(const nlohmann::json& value) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (!value.is_number_integer()) throw WrongType{};
  const auto size = value.get<std::int64_t>();
  if (size < 1 || size > most) throw NotExpressible{};
  return size;
}

template <auto field> constexpr ConfigRow size(std::string_view key) {
  return {key, nullptr, [](const PortableModel& portable) -> nlohmann::json { return (portable.model.*field).value; },
          [](PortableModel& portable, const nlohmann::json& value) { portable.model.*field = size_from(value); }};
}

/// The number of heads, where transformers takes no width that is not a multiple of it, even if heads have a width of
/// their own.
constexpr ConfigRow dividing_heads(std::string_view key) {
  ConfigRow row = size<&DecoderSpec::n_heads>(key);
  row.unmet = [](const PortableModel& portable) -> std::string {
    const std::int64_t width = portable.model.d_model, heads = portable.model.n_heads;
    if (width % heads == 0) return "";
    return fmt::format("its d_model must be a multiple of its n_heads, and is {} in the recipe, with {} heads", width,
                       heads);
  };
  return row;
}

/// A size that follows from others where the key is null or not there.
template <auto field, auto resolved> constexpr ConfigRow derived_size(std::string_view key, const char* absent) {
  return {key, absent, [](const PortableModel& portable) -> nlohmann::json { return (portable.model.*resolved)(); },
          [](PortableModel& portable, const nlohmann::json& value) {
            if (!value.is_null()) portable.model.*field = size_from(value);
          }};
}

template <auto norm_field> constexpr ConfigRow norm(std::string_view key, const char* absent) {
  return {key, absent,
          [](const PortableModel& portable) -> nlohmann::json { return (portable.model.norm.*norm_field).value; },
          [](PortableModel& portable, const nlohmann::json& value) {
            portable.model.norm.*norm_field = value.get<double>();
          }};
}

template <auto dropout_field> constexpr ConfigRow dropout(std::string_view key, const char* absent) {
  return {key, absent,
          [](const PortableModel& portable) -> nlohmann::json { return (portable.model.dropout.*dropout_field).value; },
          [](PortableModel& portable, const nlohmann::json& value) {
            portable.model.dropout.*dropout_field = value.get<double>();
          }};
}

constexpr ConfigRow tied_head(const char* absent) {
  return {"tie_word_embeddings", absent,
          [](const PortableModel& portable) -> nlohmann::json { return portable.model.tied_head.value; },
          [](PortableModel& portable, const nlohmann::json& value) { portable.model.tied_head = value.get<bool>(); }};
}

/// Of MLPs with a gate.
inline constexpr std::array<std::pair<std::string_view, Activation>, 4> gated_activations{
    {{"gelu_pytorch_tanh", Activation::geglu_tanh},
     {"gelu_new", Activation::geglu_tanh},
     {"gelu", Activation::geglu_exact},
     {"silu", Activation::swiglu}}};
/// Of MLPs without a gate. Of two names for one function the first is written.
inline constexpr std::array<std::pair<std::string_view, Activation>, 4> activations{
    {{"gelu_new", Activation::gelu_tanh},
     {"gelu", Activation::gelu_exact},
     {"relu2", Activation::relu_squared},
     {"gelu_pytorch_tanh", Activation::gelu_tanh}}};

/// @tparam activations by the names that files have for them
template <const auto& activations> constexpr ConfigRow activation_of(std::string_view key, const char* absent) {
  return {key, absent,
          [](const PortableModel& portable) -> nlohmann::json {
            for (const auto& [name, activation] : activations)
              if (activation == portable.model.activation) return name;
            return nullptr;
          },
          [](PortableModel& portable, const nlohmann::json& value) {
            for (const auto& [name, activation] : activations)
              if (name == value.get<std::string>()) return void(portable.model.activation = activation);
            throw NotExpressible{};
          }};
}

constexpr ConfigRow activation(std::string_view key, const char* absent) {
  return activation_of<activations>(key, absent);
}

template <bool fixed> nlohmann::json always(const PortableModel&) { return fixed; }

}  // namespace monomorph::train::config_rows
