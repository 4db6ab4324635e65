#include "train/inference/sampling_choices.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "train/inference/beside_tokenizer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace monomorph::train {
namespace {

using nlohmann::json;

/// A number within bounds; nothing where it is missing or null.
std::optional<double> number_in(const json& object, const std::string& path, const char* name, double least,
                                double most) {
  const json value = object.value(name, json());
  if (value.is_null()) return std::nullopt;
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    refuse_beside_tokenizer(path, fmt::format("has as {} what is no number from {} to {}", name, least, most));
  return number;
}

std::optional<std::int64_t> top_k_in(const json& object, const std::string& path) {
  const auto number = number_in(object, path, "top_k", -1, 1e9);
  return number ? top_k_of(static_cast<std::int64_t>(*number)) : std::nullopt;
}

/// 0 takes the most probable token, as in requests to the server.
std::optional<double> top_p_in(const json& object, const std::string& path) {
  const auto number = number_in(object, path, "top_p", 0, 1);
  return number ? std::optional(std::max(*number, least_top_p)) : std::nullopt;
}

}  // namespace

SamplingChoices SamplingChoices::or_else(const SamplingChoices& others) const {
  const auto first = [](const auto& one, const auto& other) { return one ? one : other; };
  return {.temperature = first(temperature, others.temperature),
          .top_p = first(top_p, others.top_p),
          .min_p = first(min_p, others.min_p),
          .repetition_penalty = first(repetition_penalty, others.repetition_penalty),
          .top_k = first(top_k, others.top_k)};
}

SamplingChoices SamplingChoices::unsaid_of(const SamplingChoices& others) const {
  const auto unsaid = [](const auto& one, auto other) {
    if (one) other.reset();
    return other;
  };
  return {.temperature = unsaid(temperature, others.temperature),
          .top_p = unsaid(top_p, others.top_p),
          .min_p = unsaid(min_p, others.min_p),
          .repetition_penalty = unsaid(repetition_penalty, others.repetition_penalty),
          .top_k = unsaid(top_k, others.top_k)};
}

void SamplingChoices::apply_to(SamplingSettings& settings) const {
  settings.temperature = temperature.value_or(settings.temperature);
  settings.top_p = top_p.value_or(settings.top_p);
  settings.min_p = min_p.value_or(settings.min_p);
  settings.repetition_penalty = repetition_penalty.value_or(settings.repetition_penalty);
  if (top_k) settings.top_k = top_k_of(*top_k);
}

std::string text_of(const SamplingChoices& choices) {
  std::vector<std::string> said;
  const auto say = [&](const char* name, const auto& value) {
    if (value) said.push_back(fmt::format("{} {}", name, *value));
  };
  say("temperature", choices.temperature);
  say("top_k", choices.top_k);
  say("top_p", choices.top_p);
  say("min_p", choices.min_p);
  say("repetition_penalty", choices.repetition_penalty);
  return fmt::format("{}", fmt::join(said, ", "));
}

SamplingChoices sampling_of_model(const std::string& folder) {
  const std::string path = path_in(folder, "generation_config.json");
  if (!is_file(path)) return {};
  const json object = object_beside_tokenizer(path);
  return {.temperature = number_in(object, path, "temperature", 0, 1e6),
          .top_p = top_p_in(object, path),
          .min_p = number_in(object, path, "min_p", 0, 1),
          .repetition_penalty = number_in(object, path, "repetition_penalty", 1e-2, 1e2),
          .top_k = top_k_in(object, path)};
}

}  // namespace monomorph::train
