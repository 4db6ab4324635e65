#include "train/weights/rotary_config.hpp"

#include "train/weights/config_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view original_context_key = "original_max_position_embeddings";

/// One of rope_scaling's objects, in which no key is passed over.
class Scaling {
 public:
  Scaling(const json& object, std::initializer_list<std::string_view> keys) : object_(object) {
    for (const auto& [key, value] : object.items())
      if (key != "rope_type" && key != "type" && std::ranges::count(keys, key) == 0)
        throw NotExpressible{"no recipe has its " + key};
  }

  double factor() const {
    const double given = number(object_.at("factor"));
    if (given < 1 || given >= beyond) throw NotExpressible{"its factor must be at least 1 and finite"};
    return given;
  }
  double positive(std::string_view key) const { return above_zero(key, object_.at(key)); }
  std::optional<double> positive_if_given(std::string_view key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    return above_zero(key, *found);
  }
  /// Of the keys of which transformers asks whether they are true: 0 is as if not given.
  std::optional<double> positive_unless_zero(std::string_view key) const {
    const auto found = object_.find(key);
    return found != object_.end() && *found == 0 ? std::nullopt : positive_if_given(key);
  }
  std::int64_t original_context() const { return config_rows::size_from(object_.at(original_context_key)); }
  std::int64_t original_context_or(std::int64_t otherwise) const {
    const auto found = object_.find(original_context_key);
    return found == object_.end() || found->is_null() ? otherwise : config_rows::size_from(*found);
  }
  bool flag_or(std::string_view key, bool otherwise) const {
    const auto found = object_.find(key);
    return found == object_.end() ? otherwise : found->get<bool>();
  }

 private:
  static double number(const json& value) {
    if (!value.is_number()) throw WrongType{};
    return value.get<double>();
  }
  static double above_zero(std::string_view key, const json& value) {
    const double given = number(value);
    if (given <= 0 || given >= beyond) throw NotExpressible{fmt::format("its {} must be above 0 and finite", key)};
    return given;
  }
  static constexpr double beyond = 9e12;  ///< from which on a number is as good as infinite for the rules of recipes

  const json& object_;
};

void take_linear(RotarySpec& rotary, const json& value) {
  rotary.linear = {.factor = Scaling(value, {"factor"}).factor()};
}

void take_dynamic(RotarySpec& rotary, const json& value, std::int64_t context) {
  const Scaling scaling(value, {"factor", original_context_key});
  if (scaling.original_context_or(context) != context)
    throw NotExpressible{
        fmt::format("its {} must be max_position_embeddings, from which transformers counts", original_context_key)};
  rotary.dynamic = {.original_context = context, .factor = scaling.factor()};
}

void take_llama3(RotarySpec& rotary, const json& value) {
  const Scaling scaling(value, {"factor", "low_freq_factor", "high_freq_factor", original_context_key});
  const Llama3RotaryScaling llama3{.factor = scaling.factor(),
                                   .low_frequency_factor = scaling.positive("low_freq_factor"),
                                   .high_frequency_factor = scaling.positive("high_freq_factor"),
                                   .original_context = scaling.original_context()};
  if (llama3.low_frequency_factor >= llama3.high_frequency_factor)
    throw NotExpressible{"its low_freq_factor must be below its high_freq_factor"};
  if (llama3.factor != 1) rotary.scaling = llama3;
}

/// By which cosines and sines are multiplied, if it is not what follows from the factor alone: given, or by the formula
/// of DeepSeek's models.
Derived<double> attention_factor(const Scaling& scaling, double factor) {
  if (const auto given = scaling.positive_if_given("attention_factor")) return *given;
  const auto numerator = scaling.positive_unless_zero("mscale"),
             denominator = scaling.positive_unless_zero("mscale_all_dim");
  if (!numerator || !denominator) return automatic;
  const double log_factor = 0.1 * std::log(factor);
  return (*numerator * log_factor + 1) / (*denominator * log_factor + 1);
}

void take_yarn(RotarySpec& rotary, const json& value, std::int64_t context) {
  const Scaling scaling(value, {"factor", "attention_factor", "beta_fast", "beta_slow", original_context_key, "mscale",
                                "mscale_all_dim", "truncate"});
  const YarnRotaryScaling usual;
  const double factor = scaling.factor();
  const YarnRotaryScaling yarn{.factor = factor,
                               .original_context = scaling.original_context_or(context),
                               .beta_fast = scaling.positive_unless_zero("beta_fast").value_or(usual.beta_fast),
                               .beta_slow = scaling.positive_unless_zero("beta_slow").value_or(usual.beta_slow),
                               .attention_factor = attention_factor(scaling, factor),
                               .truncate = scaling.flag_or("truncate", usual.truncate)};
  if (yarn.beta_slow >= yarn.beta_fast) throw NotExpressible{"its beta_slow must be below its beta_fast"};
  if (factor == 1 && yarn.attention_factor.value_or(1) != 1)
    throw NotExpressible{"its attention_factor must be 1 where its factor is"};
  if (factor != 1) rotary.yarn = yarn;
}

/// "rope_type" or, in older files, "type". Some of the models of transformers read the one first, some the other.
std::string kind_of(const json& value) {
  const auto kind = value.find("rope_type"), older = value.find("type");
  if (kind != value.end() && older != value.end() && *kind != *older)
    throw NotExpressible{"its type and its rope_type must be the same"};
  return value.at(kind != value.end() ? "rope_type" : "type").get<std::string>();
}

}  // namespace

json rope_scaling_of(const PortableModel& portable) {
  const auto& [base, llama3, linear, dynamic, yarn] = portable.model.rotary;
  if (llama3.factor != 1)
    return {{"rope_type", "llama3"},
            {"factor", llama3.factor.value},
            {"low_freq_factor", llama3.low_frequency_factor.value},
            {"high_freq_factor", llama3.high_frequency_factor.value},
            {original_context_key, llama3.original_context.value}};
  if (linear.factor != 1) return {{"rope_type", "linear"}, {"factor", linear.factor.value}};
  if (dynamic.original_context.given) return {{"rope_type", "dynamic"}, {"factor", dynamic.factor.value}};
  if (yarn.factor == 1) return nullptr;
  json scaling{{"rope_type", "yarn"},
               {"factor", yarn.factor.value},
               {original_context_key, yarn.original_context.value},
               {"beta_fast", yarn.beta_fast.value},
               {"beta_slow", yarn.beta_slow.value},
               {"truncate", yarn.truncate.value}};
  if (yarn.attention_factor.given) scaling["attention_factor"] = yarn.attention_factor.value;
  return scaling;
}

void take_rope_scaling(PortableModel& portable, const json& value) {
  if (value.is_null()) return;
  if (!value.is_object()) throw WrongType{};
  RotarySpec& rotary = portable.model.rotary;
  const std::int64_t context = portable.model.context_length;
  const std::string kind = kind_of(value);
  if (kind == "llama3")
    take_llama3(rotary, value);
  else if (kind == "linear")
    take_linear(rotary, value);
  else if (kind == "dynamic")
    take_dynamic(rotary, value, context);
  else if (kind == "yarn")
    take_yarn(rotary, value, context);
  else if (kind == "default")
    Scaling(value, {});
  else
    throw NotExpressible{"its rope_type must be default, linear, dynamic, yarn or llama3"};
}

double rotary_base_from(const json& value) {
  const auto base = value.get<double>();
  if (base <= 1) throw NotExpressible{"it must be above 1"};
  return base;
}

void take_rope_parameters(PortableModel& portable, const json& value) {
  if (value.is_null()) return;
  if (!value.is_object()) throw WrongType{};
  json scaling = value;
  const auto base = scaling.find("rope_theta");
  if (base != scaling.end()) {
    portable.model.rotary.base = rotary_base_from(*base);
    scaling.erase(base);
  }
  if (scaling.empty()) return;
  portable.model.rotary = {.base = portable.model.rotary.base};
  if (!scaling.contains("rope_type") && !scaling.contains("type")) scaling["rope_type"] = "default";
  take_rope_scaling(portable, scaling);
}

std::int64_t max_positions_of(const PortableModel& portable) {
  return portable.model.rotary.dynamic.original_context.value_or(portable.model.context_length);
}

}  // namespace monomorph::train
