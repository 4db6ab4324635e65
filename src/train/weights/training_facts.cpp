#include "train/weights/training_facts.hpp"

#include <monomorph/core/dtype.hpp>
#include <monomorph/core/file_error.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace monomorph::train {
namespace {

constexpr std::string_view of_dropout = "model.dropout.", state_dtype = "state_dtype";
constexpr std::array<std::string_view, 4> policies_of_training{"adapters", "objective", "optimizer", "precision"};

bool is_of_training(std::string_view name) {
  return name.starts_with(of_dropout) || name == state_dtype || std::ranges::count(policies_of_training, name) > 0;
}

constexpr std::array<std::pair<std::string_view, DType>, 4> dtype_names{
    {{"bfloat16", DType::bf16}, {"float16", DType::fp16}, {"float32", DType::fp32}, {"float64", DType::fp64}}};

/// A dtype that recipes do not have by the word that the file has for it. Empty if it says none: transformers writes
/// `dtype` since version 5, and reads `torch_dtype` where that is not there.
std::string dtype_in(const nlohmann::json& config) {
  for (const char* const key : {"dtype", "torch_dtype"}) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_string()) continue;
    std::string name = *found;
    if (constexpr std::string_view of_torch = "torch."; name.starts_with(of_torch)) name.erase(0, of_torch.size());
    const auto known = std::ranges::find(dtype_names, name, &std::pair<std::string_view, DType>::first);
    return known == dtype_names.end() ? in_quotes(name) : std::string(name_of(known->second));
  }
  return "";
}

}  // namespace

ModelFacts training_facts(const ModelFacts& recipe_facts) {
  ModelFacts facts;
  for (const auto& [name, value] : recipe_facts)
    if (is_of_training(name)) facts.emplace(name, value);
  return facts;
}

ModelFacts training_facts(const PortableModel& portable, const nlohmann::json& config) {
  ModelFacts facts;
  for (Fact& fact : model_facts(portable.model))
    if (fact.name.starts_with(of_dropout)) facts.emplace(std::move(fact.name), std::move(fact.value));
  if (std::string dtype = dtype_in(config); !dtype.empty()) facts.emplace(state_dtype, std::move(dtype));
  return facts;
}

std::vector<std::string> training_differences(const ModelFacts& there, const ModelFacts& here) {
  const auto known_to = [](const ModelFacts& facts, const ModelFacts& others) {
    ModelFacts common = facts;
    std::erase_if(common, [&](const auto& fact) { return !others.contains(fact.first); });
    return common;
  };
  return differences(known_to(there, here), "there", known_to(here, there), "here");
}

}  // namespace monomorph::train
