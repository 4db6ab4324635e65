#include "train/weights/portable_model.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

[[noreturn]] void refuse(const RecipeProgram& recipe, std::string_view feature) {
  throw UsageError("WEIGHTS-01", fmt::format("the files of Hugging Face's models can't express that {} has {}; take a "
                                             "recipe without it",
                                             recipe.name, feature));
}

void check_layers(const RecipeProgram& recipe) {
  for (const LayerKind& kind : recipe.layers) {
    if (kind.mixture != nullptr) refuse(recipe, "a mixture of experts");
    if (kind.name != "monomorph::DecoderBlock") refuse(recipe, fmt::format("blocks of the kind {}", kind.name));
    if (kind.order != BlockOrder::pre_norm) refuse(recipe, fmt::format("{} blocks", order_name(kind.order)));
  }
}

AttentionMask mask_of(const RecipeProgram& recipe) {
  const AttentionMask mask = recipe.attentions.front().mask;
  for (const LayerAttention& attention : recipe.attentions)
    if (attention.mask != mask) refuse(recipe, "layers with different masks of attention");
  return mask;
}

std::string text_of(const AttentionMask& mask) {
  if (mask == AttentionMask{}) return "causal";
  if (mask == AttentionMask{.before = mask.before})
    return fmt::format("causal, over the last {} tokens", mask.before + 1);
  return fmt::format("{} keys before, {} behind, a prefix of {}",
                     mask.before == AttentionMask::unlimited ? "all" : fmt::format("{}", mask.before),
                     mask.after == AttentionMask::unlimited ? "all" : fmt::format("{}", mask.after), mask.prefix);
}

}  // namespace

PortableModel portable_model(const RecipeProgram& recipe) {
  if (recipe.output == ModelOutput::embeddings) refuse(recipe, "an encoder");
  if (const std::string_view kind = recipe.described_model.kind; kind != type_name<DecoderSpec>())
    refuse(recipe, fmt::format("a model of the kind {}", kind));
  check_layers(recipe);
  return {*recipe.model, mask_of(recipe)};
}

bool decides_function(const std::string& name, const ModelFacts& facts) {
  for (const std::string_view unread :
       {"model.dropout.", "model.initialization.", "model.attention_kernel", "model.vocab_multiple"})
    if (name.starts_with(unread)) return false;
  const auto is = [&](const char* other, std::string_view value) {
    const auto found = facts.find(other);
    return found != facts.end() && found->second == value;
  };
  if (name.starts_with("model.rotary.scaling.") && is("model.rotary.scaling.factor", "1")) return false;
  if (name.starts_with("model.rotary.")) return is("model.position", "rotary");
  return name.starts_with("model.");
}

ModelFacts facts_of(const PortableModel& portable) {
  ModelFacts all, facts{{"mask", text_of(portable.mask)}};
  for (Fact& fact : model_facts(portable.model)) all.emplace(std::move(fact.name), std::move(fact.value));
  for (const auto& [name, value] : all)
    if (decides_function(name, all)) facts.emplace(name, value);
  return facts;
}

std::vector<std::string> differences(const ModelFacts& there, std::string_view where_there, const ModelFacts& here,
                                     std::string_view where_here) {
  ModelFacts names = there;
  names.insert(here.begin(), here.end());
  const auto value_in = [](const ModelFacts& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("absent") : found->second;
  };
  std::vector<std::string> lines;
  for (const auto& [name, unused] : names)
    if (const std::string left = value_in(there, name), right = value_in(here, name); left != right)
      lines.push_back(fmt::format("{} is {} {}, and {} {}", name, left, where_there, right, where_here));
  return lines;
}

}  // namespace monomorph::train
