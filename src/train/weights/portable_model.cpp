#include "train/weights/portable_model.hpp"

#include <monomorph/block/initializers.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/spec/encoder_spec.hpp>
#include <monomorph/spec/masked_language_spec.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace monomorph::train {
namespace {

[[noreturn]] void refuse(const RecipeProgram& recipe, std::string_view feature) {
  throw UsageError("WEIGHTS-01", fmt::format("the files of Hugging Face's models can't express that {} has {}; take a "
                                             "recipe without it",
                                             recipe.name, feature));
}

/// The experts of all layers, if they have any.
std::optional<MixtureSpec> mixture_of(const RecipeProgram& recipe) {
  const MixtureSpec* const first = recipe.layers.front().mixture;
  for (const LayerKind& kind : recipe.layers) {
    if (!kind.is_plain_block && kind.mixture == nullptr)
      refuse(recipe, fmt::format("layers of the kind {}", text_of(kind)));
    if ((kind.mixture == nullptr) != (first == nullptr) || (first != nullptr && *kind.mixture != *first))
      refuse(recipe, "layers with different MLPs or experts");
  }
  if (first == nullptr) return std::nullopt;
  return *first;
}

BlockOrder order_of(const RecipeProgram& recipe) {
  const BlockOrder order = recipe.layers.front().order;
  for (const LayerKind& kind : recipe.layers)
    if (kind.order != order) refuse(recipe, "layers with different orders of norms");
  return order;
}

/// What a layer sees, and by which angles it turns.
struct Sight {
  AttentionMask mask;
  RotarySpec rotary;
  friend bool operator==(const Sight&, const Sight&) = default;
};

/// Of each layer.
std::vector<Sight> sights_of(const RecipeProgram& recipe) {
  std::vector<Sight> sights;
  for (const LayerAttention& attention : recipe.attentions)
    sights.insert(sights.end(), static_cast<std::size_t>(attention.layers), {attention.mask, recipe.model->rotary});
  std::size_t layer = 0;
  for (const LayerKind& kind : recipe.layers)
    for (int i = 0; i < kind.count && layer < sights.size(); ++i, ++layer)
      if (kind.rotary != nullptr) sights[layer].rotary = *kind.rotary;
  return sights;
}

bool is_window(const AttentionMask& mask) {
  return mask == AttentionMask{.before = mask.before} && mask != AttentionMask{};
}

/// Masks and rotary positions.
void take_sights(const RecipeProgram& recipe, PortableModel& portable) {
  const std::vector<Sight> sights = sights_of(recipe);
  const Sight* whole = &sights.front();  // of layers that are not local
  for (const Sight& sight : sights)
    if (!is_window(sight.mask)) whole = &sight;
  portable.mask = whole->mask;
  portable.model.rotary = whole->rotary;
  for (std::size_t layer = 0; layer < sights.size(); ++layer) {
    const auto& [mask, rotary] = sights[layer];
    if (sights[layer] == *whole) continue;
    if (mask == whole->mask) refuse(recipe, "layers with different rotary positions");
    if (!is_window(mask) || whole->mask != AttentionMask{}) refuse(recipe, "layers with different masks of attention");
    if (!portable.local) portable.local = LocalLayers{.mask = mask, .rotary = rotary};
    if (portable.local->mask != mask) refuse(recipe, "layers with windows of different lengths");
    if (portable.local->rotary != rotary) refuse(recipe, "layers with different rotary positions");
    portable.local->layers.set(layer);
  }
}

std::string text_of(const AttentionMask& mask) {
  if (mask == AttentionMask{}) return "causal";
  if (mask == AttentionMask{.after = AttentionMask::unlimited}) return "none";
  if (mask == AttentionMask{.before = mask.before})
    return fmt::format("causal, over the last {} tokens", mask.before + 1);
  return fmt::format("{} keys before, {} behind, a prefix of {}",
                     mask.before == AttentionMask::unlimited ? "all" : fmt::format("{}", mask.before),
                     mask.after == AttentionMask::unlimited ? "all" : fmt::format("{}", mask.after), mask.prefix);
}

constexpr std::string_view of_model = "model.";

/// The name of a field, so that none is written here as text.
template <class Spec, class Field> std::string field_name(Field Spec::*field) {
  const Spec spec{};
  std::string of_field;
  for_each_field(spec, [&](const char* name, const auto& visited) {
    if (static_cast<const void*>(&visited) == &(spec.*field)) of_field = name;
  });
  return of_field;
}
template <class Field> std::string fact_name(Field DecoderSpec::*field) {
  return std::string(of_model) + field_name(field);
}

/// Whether a fact is that of a field, or, where the field is a spec, of one of its fields.
bool is_of(std::string_view name, std::string_view field) {
  return name.starts_with(field) && (name.size() == field.size() || name[field.size()] == '.');
}

bool is_read_by_training_alone(std::string_view name) {
  return is_of(name, fact_name(&DecoderSpec::dropout)) || is_of(name, fact_name(&DecoderSpec::initialization)) ||
         is_of(name, fact_name(&DecoderSpec::attention_kernel)) || is_of(name, fact_name(&DecoderSpec::vocab_multiple));
}

/// Of an EncoderSpec, from what the recipe's program says of it.
std::optional<EmbeddingSpec> embedding_of(const DescribedModel& model) {
  if (model.kind != type_name<EncoderSpec>()) return std::nullopt;
  const auto value_of = [&](auto field) {
    const std::string name = std::string(of_model) + field_name(field);
    return std::ranges::find(model.facts, name, &Fact::name)->value;
  };
  EmbeddingSpec embedding{.unit_length = value_of(&EncoderSpec::unit_length) == train::text_of(true)};
  for (const Pooling pooling : {Pooling::mean, Pooling::first, Pooling::last})
    if (value_of(&EncoderSpec::pooling) == train::text_of(pooling)) embedding.pooling = pooling;
  if (const std::string features = value_of(&EncoderSpec::d_embedding);
      features != train::text_of(Derived<std::int64_t>{}))
    embedding.features = std::stoll(features);
  return embedding;
}

}  // namespace

PortableModel portable_model(const RecipeProgram& recipe) {
  if (const std::string_view kind = recipe.described_model.kind;
      kind != type_name<DecoderSpec>() && kind != type_name<EncoderSpec>() && kind != type_name<MaskedLanguageSpec>())
    refuse(recipe, fmt::format("a model of the kind {}", kind));
  PortableModel portable{.model = *recipe.model, .output = recipe.output};
  portable.has_masked_head = recipe.described_model.kind == type_name<MaskedLanguageSpec>();
  portable.embedding = embedding_of(recipe.described_model);
  take_sights(recipe, portable);
  if (portable.model.multiplier.attention.value_or(0) ==
      1 / initializers::square_root(static_cast<double>(portable.model.head_width())))
    portable.model.multiplier.attention = automatic;  // said aloud
  portable.mixture = mixture_of(recipe);
  portable.order = order_of(recipe);
  if (portable.mixture) portable.model.d_ff = portable.mixture->d_expert.value_or(portable.model.ff_width());
  if (portable.mixture) portable.mixture->d_expert = automatic;
  return portable;
}

bool decides_function(const std::string& name, const ModelFacts& facts) {
  const std::string rotary = fact_name(&DecoderSpec::rotary);
  const auto is = [&](const std::string& other, std::string_view value) {
    const auto found = facts.find(other);
    return found != facts.end() && found->second == value;
  };
  // Of a scaling whose first field is as if left out nothing is read.
  const auto is_of_unused_scaling = [&]<class Scaling>(Scaling RotarySpec::*scaling, auto Scaling::*first) {
    const std::string of_scaling = fmt::format("{}.{}", rotary, field_name(scaling));
    return is_of(name, of_scaling) &&
           is(fmt::format("{}.{}", of_scaling, field_name(first)), text_of(Scaling{}.*first));
  };
  if (!name.starts_with(of_model) || is_read_by_training_alone(name)) return false;
  if (is_of_unused_scaling(&RotarySpec::scaling, &Llama3RotaryScaling::factor) ||
      is_of_unused_scaling(&RotarySpec::linear, &LinearRotaryScaling::factor) ||
      is_of_unused_scaling(&RotarySpec::dynamic, &DynamicRotaryScaling::original_context) ||
      is_of_unused_scaling(&RotarySpec::yarn, &YarnRotaryScaling::factor))
    return false;
  return !is_of(name, rotary) || is(fact_name(&DecoderSpec::position), text_of(Position::rotary));
}

namespace {

/// Losses that only training has are left out.
void add_facts_of(const MixtureSpec& mixture, ModelFacts& facts) {
  const auto add = [&](auto MixtureSpec::*field) {
    facts.emplace("experts." + field_name(field), train::text_of(mixture.*field));
  };
  add(&MixtureSpec::n_experts), add(&MixtureSpec::top_k), add(&MixtureSpec::capacity_factor);
  add(&MixtureSpec::n_shared), add(&MixtureSpec::normalize), add(&MixtureSpec::bias_rate);
  facts.emplace("experts." + field_name(&MixtureSpec::scores),
                mixture.scores == RouterScores::softmax ? "softmax" : "sigmoid");
}

void add_facts_of(const LocalLayers& local, ModelFacts& facts) {
  std::vector<std::size_t> numbers;
  for (std::size_t layer = 0; layer < most_layers; ++layer)
    if (local.layers.test(layer)) numbers.push_back(layer);
  facts.emplace("local.layers", fmt::format("{}", fmt::join(numbers, ", ")));
  facts.emplace("local.mask", text_of(local.mask));
  std::vector<Fact> of_rotary;
  add_facts("local.rotary.", local.rotary, of_rotary);
  const RotarySpec usual;
  std::vector<Fact> as_usual;
  add_facts("local.rotary.", usual, as_usual);
  for (std::size_t i = 0; i < of_rotary.size(); ++i)
    if (of_rotary[i].value != as_usual[i].value) facts.emplace(of_rotary[i].name, of_rotary[i].value);
}

}  // namespace

std::vector<Fact> embedding_facts(const EmbeddingSpec& embedding) {
  const auto name = [](auto field) { return std::string(of_model) + field_name(field); };
  return {{name(&EncoderSpec::pooling), text_of(embedding.pooling)},
          {name(&EncoderSpec::d_embedding), text_of(embedding.features)},
          {name(&EncoderSpec::unit_length), text_of(embedding.unit_length)}};
}

ModelFacts facts_of(const PortableModel& portable) {
  ModelFacts all, facts{{"mask", text_of(portable.mask)},
                        {"order", std::string(name_of(portable.order))},
                        {"output", portable.output != ModelOutput::logits ? "hidden states"
                                   : portable.has_masked_head             ? "logits of masked tokens"
                                                                          : "logits"}};
  for (Fact& fact : model_facts(portable.model)) all.emplace(std::move(fact.name), std::move(fact.value));
  for (const auto& [name, value] : all)
    if (decides_function(name, all)) facts.emplace(name, value);
  if (portable.mixture) add_facts_of(*portable.mixture, facts);
  if (portable.local) add_facts_of(*portable.local, facts);
  if (portable.embedding)
    for (Fact& fact : embedding_facts(*portable.embedding)) facts.emplace(std::move(fact.name), std::move(fact.value));
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
